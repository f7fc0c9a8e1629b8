-- DISTINCT: equal rows of one person merge; different values are counted once over all people.

-- # Different notes
-- loss: epsilon 1
SELECT COUNT(DISTINCT note) AS notes FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      different values of note; one integer is 1; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(DISTINCT note) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN ("note" IS NOT NULL) THEN "note" END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
kept0 AS (SELECT owner, v0 FROM (SELECT owner, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.v0) AS place FROM (SELECT DISTINCT owner, v0 FROM contributions WHERE v0 IS NOT NULL) AS d) WHERE place <= 5),
values0 AS (SELECT count(DISTINCT v0) AS m0 FROM kept0)
SELECT coalesce(m0, 0) FROM values0;


-- # Different ages by ward
-- loss: epsilon 1
SELECT ward, COUNT(DISTINCT age) AS ages FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      different values of age; one integer is 1; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(DISTINCT age) = [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN ("age" IS NOT NULL) THEN "age" END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
kept0 AS (SELECT owner, k0, v0 FROM (SELECT owner, d.k0 AS k0, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '') || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.k0, d.v0) AS place FROM (SELECT DISTINCT owner, k0, v0 FROM contributions WHERE v0 IS NOT NULL) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0) WHERE place <= 5),
values0 AS (SELECT k0, count(DISTINCT v0) AS m0 FROM kept0 GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN values0 ON keys0.value IS NOT DISTINCT FROM values0.k0 ORDER BY keys0.place;


-- # Patients and wards, each pair once
-- loss: epsilon 1
SELECT ward, COUNT(*) AS patients FROM (SELECT DISTINCT patient_id, ward FROM visits) AS t GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = distinct.patient_id, t.ward = distinct.ward
--   rows       one row per owner and distinct.patient_id = select.patient_id, distinct.ward = select.ward
--   rows         columns select.patient_id = visits.patient_id, select.ward = visits.ward
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     t.ward: 4 declared: A, B, it's, NULL
--   by       (t.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "t.ward" AS k0, owner FROM (SELECT owner AS owner, "distinct.ward" AS "t.ward" FROM (SELECT owner AS owner, "select.ward" AS "distinct.ward" FROM (SELECT owner AS owner, "visits.patient_id" AS "select.patient_id", "visits.ward" AS "select.ward" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "ward" AS "visits.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL)) GROUP BY owner, "select.patient_id", "select.ward"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Patients over 60
-- loss: epsilon 1
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE age > 60;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where age > 60
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      people; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(DISTINCT patient_id) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND ("age" > 60)),
people0 AS (SELECT count(DISTINCT owner) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM people0;


-- # Patients with a paid visit
-- loss: epsilon 1
SELECT ward, COUNT(DISTINCT patient_id) FILTER (WHERE paid) AS patients FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      people with CASE WHEN paid THEN 1 ELSE NULL END; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(DISTINCT patient_id) FILTER (WHERE paid) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, coalesce(CAST(CASE WHEN "paid" THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions WHERE v0) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0),
shares0 AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN people0 ON keys0.value IS NOT DISTINCT FROM people0.k0 ORDER BY keys0.place;


-- # Different values of an expression
-- loss: epsilon 1
SELECT COUNT(DISTINCT age // 10) AS decades FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      different values of age // 10; one integer is 1; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(DISTINCT age // 10) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN coalesce(trunc(CAST("age" AS DOUBLE) / nullif('10.0'::DOUBLE, 0)) <= 'inf'::DOUBLE, FALSE) THEN trunc(CAST("age" AS DOUBLE) / nullif('10.0'::DOUBLE, 0)) + 0.0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
kept0 AS (SELECT owner, v0 FROM (SELECT owner, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.v0) AS place FROM (SELECT DISTINCT owner, v0 FROM contributions WHERE v0 IS NOT NULL) AS d) WHERE place <= 5),
values0 AS (SELECT count(DISTINCT v0) AS m0 FROM kept0)
SELECT coalesce(m0, 0) FROM values0;


-- # Different values of rows that are people
-- loss: epsilon 1
SELECT COUNT(DISTINCT note) AS notes FROM people;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of people
--   bound    every row counts 1
--   [0]      different values of note; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(DISTINCT note) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN ("note" IS NOT NULL) THEN "note" END AS v0 FROM (SELECT CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM "frame people")),
values0 AS (SELECT count(DISTINCT v0) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM values0;


-- # Different drugs over a join
-- loss: epsilon 1
SELECT p.sex, COUNT(DISTINCT r.drug) AS drugs FROM patients p JOIN prescriptions r ON p.patient_id = r.patient_id GROUP BY p.sex;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on p.patient_id = r.patient_id
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   rows       all of prescriptions as r
--   bound    a person counts for at most 4 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      different values of r.drug; one integer is 1; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(DISTINCT r.drug) = [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CASE WHEN ("r.drug" IS NOT NULL) THEN "r.drug" END AS v0, owner FROM (SELECT l.owner AS owner, "p.sex", "r.drug" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS l JOIN (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS r ON l.owner = r.owner AND ("p.patient_id" = "r.patient_id"))),
kept0 AS (SELECT owner, k0, v0 FROM (SELECT owner, d.k0 AS k0, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '') || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.k0, d.v0) AS place FROM (SELECT DISTINCT owner, k0, v0 FROM contributions WHERE v0 IS NOT NULL) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0) WHERE place <= 4),
values0 AS (SELECT k0, count(DISTINCT v0) AS m0 FROM kept0 GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN values0 ON keys0.value IS NOT DISTINCT FROM values0.k0 ORDER BY keys0.place;


-- # APPROX_COUNT_DISTINCT is exact before the noise
-- loss: epsilon 1
SELECT APPROX_COUNT_DISTINCT(level) AS levels FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      different values of level; one integer is 1; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(DISTINCT level) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN ("level" IS NOT NULL) THEN "level" END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
kept0 AS (SELECT owner, v0 FROM (SELECT owner, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.v0) AS place FROM (SELECT DISTINCT owner, v0 FROM contributions WHERE v0 IS NOT NULL) AS d) WHERE place <= 5),
values0 AS (SELECT count(DISTINCT v0) AS m0 FROM kept0)
SELECT coalesce(m0, 0) FROM values0;
