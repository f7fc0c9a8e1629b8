-- UNION ALL: rows one below the other; a person counts for the bounds of all parts together.

-- # Visits and prescriptions as events
-- loss: epsilon 1
SELECT COUNT(*) AS events FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM prescriptions) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = union.patient_id
--   rows       one below the other as union.patient_id
--   rows         columns union.patient_id.0 = select.patient_id
--   rows           columns select.patient_id = visits.patient_id
--   rows             all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id
--   rows           columns select_2.patient_id = prescriptions.patient_id
--   rows             all of prescriptions as prescriptions
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 9; Laplace, scale 9; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL)))))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Events by kind
-- loss: epsilon 1
SELECT visit, COUNT(*) AS n FROM (SELECT patient_id, TRUE AS visit FROM visits UNION ALL SELECT patient_id, FALSE AS visit FROM prescriptions) AS t GROUP BY visit;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = union.patient_id, t.visit = union.visit
--   rows       one below the other as union.patient_id, union.visit
--   rows         columns union.patient_id.0 = select.patient_id, union.visit.0 = select.visit
--   rows           columns select.patient_id = visits.patient_id, select.visit = TRUE
--   rows             all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id, union.visit.1 = select_2.visit
--   rows           columns select_2.patient_id = prescriptions.patient_id, select_2.visit = FALSE
--   rows             all of prescriptions as prescriptions
--   bound    a person counts for at most 9 rows, and as a person in at most 3 groups
--   keys     t.visit: 3 enumerated: TRUE, FALSE, NULL
--   by       (t.visit): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 18; Laplace, scale 18; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[True, False, NULL]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT "t.visit" AS k0, owner FROM (SELECT owner AS owner, "union.visit" AS "t.visit" FROM (SELECT owner AS owner, "union.visit.0" AS "union.visit" FROM (SELECT owner AS owner, "select.visit" AS "union.visit.0" FROM (SELECT owner AS owner, TRUE AS "select.visit" FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner, "union.visit.1" AS "union.visit" FROM (SELECT owner AS owner, "select_2.visit" AS "union.visit.1" FROM (SELECT owner AS owner, FALSE AS "select_2.visit" FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL)))))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Numbers of two tables in one range
-- loss: epsilon 1
SELECT SUM(x) AS total FROM (SELECT patient_id, cost AS x FROM visits UNION ALL SELECT patient_id, dose AS x FROM prescriptions) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = union.patient_id, t.x = union.x
--   rows       one below the other as union.patient_id, union.x
--   rows         columns union.patient_id.0 = select.patient_id, union.x.0 = select.x
--   rows           columns select.patient_id = visits.patient_id, select.x = visits.cost
--   rows             all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id, union.x.1 = select_2.x
--   rows           columns select_2.patient_id = prescriptions.patient_id, select_2.x = prescriptions.dose
--   rows             all of prescriptions as prescriptions
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      sum of t.x in [0, 1000]; one integer is 1/549755813888; moves by L1 9000; Laplace, scale 9000; epsilon 1
--   value 1  SUM(t.x) = 1/549755813888 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.x" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("t.x" * '524288.0'::DOUBLE AS INTEGER) WHEN "t.x" < '0.0'::DOUBLE THEN 0 WHEN "t.x" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, owner FROM (SELECT owner AS owner, "union.x" AS "t.x" FROM (SELECT owner AS owner, "union.x.0" AS "union.x" FROM (SELECT owner AS owner, "select.x" AS "union.x.0" FROM (SELECT owner AS owner, "visits.cost" AS "select.x" FROM (SELECT "patient_id" AS owner, "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner, "union.x.1" AS "union.x" FROM (SELECT owner AS owner, "select_2.x" AS "union.x.1" FROM (SELECT owner AS owner, "prescriptions.dose" AS "select_2.x" FROM (SELECT "patient_id" AS owner, "dose" AS "prescriptions.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL)))))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Whole and real numbers in one column
-- loss: epsilon 1
SELECT AVG(x) AS mean FROM (SELECT patient_id, age AS x FROM visits UNION ALL SELECT patient_id, dose FROM prescriptions) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = union.patient_id, t.x = union.x
--   rows       one below the other as union.patient_id, union.x
--   rows         columns union.patient_id.0 = select.patient_id, union.x.0 = CAST(select.x AS DOUBLE)
--   rows           columns select.patient_id = visits.patient_id, select.x = visits.age
--   rows             all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id, union.x.1 = CAST(select_2.dose AS DOUBLE)
--   rows           columns select_2.patient_id = prescriptions.patient_id, select_2.dose = prescriptions.dose
--   rows             all of prescriptions as prescriptions
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      sum of t.x in [0, 120], less 60; one integer is 1/8796093022208, 1 times; moves by L1 1080; joint noise of 2, scale 1080; epsilon 1
--   [1]      rows with t.x; one integer is 1/1048576, 1006632960 times; moves by L1 9; joint noise of 2, scale 9; epsilon 1
--   value 1  AVG(t.x) = (1/8796093022208 x [0] + 1/17592186044416 x [1]) / (1/1055531162664960 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.x" BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(("t.x" - '60.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER) WHEN "t.x" < '0.0'::DOUBLE THEN -503316480 WHEN "t.x" <= 'inf'::DOUBLE THEN 503316480 ELSE 0 END AS v0, CAST(coalesce("t.x" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "union.x" AS "t.x" FROM (SELECT owner AS owner, "union.x.0" AS "union.x" FROM (SELECT owner AS owner, TRY_CAST("select.x" AS DOUBLE) AS "union.x.0" FROM (SELECT owner AS owner, "visits.age" AS "select.x" FROM (SELECT "patient_id" AS owner, "age" AS "visits.age" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner, "union.x.1" AS "union.x" FROM (SELECT owner AS owner, TRY_CAST("select_2.dose" AS DOUBLE) AS "union.x.1" FROM (SELECT owner AS owner, "prescriptions.dose" AS "select_2.dose" FROM (SELECT "patient_id" AS owner, "dose" AS "prescriptions.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL)))))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # UNION keeps each row of a person once
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM (SELECT patient_id, level AS x FROM visits UNION SELECT patient_id, level + 1 FROM visits) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = distinct.patient_id, t.x = distinct.x
--   rows       one row per owner and distinct.patient_id = union.patient_id, distinct.x = union.x
--   rows         one below the other as union.patient_id, union.x
--   rows           columns union.patient_id.0 = select.patient_id, union.x.0 = CAST(select.x AS INTEGER)
--   rows             columns select.patient_id = visits.patient_id, select.x = visits.level
--   rows               all of visits as visits
--   rows           columns union.patient_id.1 = select_2.patient_id, union.x.1 = CAST(select_2.column_2 AS INTEGER)
--   rows             columns select_2.patient_id = visits_2.patient_id, select_2.column_2 = visits_2.level + 1
--   rows               all of visits as visits_2
--   bound    a person counts for at most 10 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 10; Laplace, scale 10; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner, "union.patient_id.0" AS "union.patient_id", "union.x.0" AS "union.x" FROM (SELECT owner AS owner, "select.patient_id" AS "union.patient_id.0", round_even(TRY_CAST("select.x" AS DOUBLE), 0) AS "union.x.0" FROM (SELECT owner AS owner, "visits.patient_id" AS "select.patient_id", "visits.level" AS "select.x" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner, "union.patient_id.1" AS "union.patient_id", "union.x.1" AS "union.x" FROM (SELECT owner AS owner, "select_2.patient_id" AS "union.patient_id.1", round_even(TRY_CAST("select_2.column_2" AS DOUBLE), 0) AS "union.x.1" FROM (SELECT owner AS owner, "visits_2.patient_id" AS "select_2.patient_id", (CAST("visits_2.level" AS DOUBLE) + '1.0'::DOUBLE) AS "select_2.column_2" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits_2.patient_id", "level" AS "visits_2.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL)))) GROUP BY owner, "union.patient_id", ("union.x" + 0.0)))),
weights AS (SELECT owner, CAST(least(1048576, 10485760 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # People of either table
-- loss: epsilon 1
SELECT COUNT(DISTINCT patient_id) AS people FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM prescriptions) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     columns t.patient_id = union.patient_id
--   rows       one below the other as union.patient_id
--   rows         columns union.patient_id.0 = select.patient_id
--   rows           columns select.patient_id = visits.patient_id
--   rows             all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id
--   rows           columns select_2.patient_id = prescriptions.patient_id
--   rows             all of prescriptions as prescriptions
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      people; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(DISTINCT t.patient_id) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL)))))),
people0 AS (SELECT count(DISTINCT owner) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM people0;


-- # A union joined with a table
-- loss: epsilon 1
SELECT p.sex, COUNT(*) AS events FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM prescriptions) AS t JOIN patients p ON p.patient_id = t.patient_id GROUP BY p.sex;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 0.5
--   rows     inner join, within each owner, on p.patient_id = t.patient_id
--   rows       columns t.patient_id = union.patient_id
--   rows         one below the other as union.patient_id
--   rows           columns union.patient_id.0 = select.patient_id
--   rows             columns select.patient_id = visits.patient_id
--   rows               all of visits as visits
--   rows           columns union.patient_id.1 = select_2.patient_id
--   rows             columns select_2.patient_id = prescriptions.patient_id
--   rows               all of prescriptions as prescriptions
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 9 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 18; Laplace, scale 18; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, owner FROM (SELECT l.owner AS owner, "p.sex" FROM (SELECT owner AS owner, "union.patient_id" AS "t.patient_id" FROM (SELECT owner AS owner, "union.patient_id.0" AS "union.patient_id" FROM (SELECT owner AS owner, "select.patient_id" AS "union.patient_id.0" FROM (SELECT owner AS owner, "visits.patient_id" AS "select.patient_id" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) UNION ALL SELECT owner AS owner, "union.patient_id.1" AS "union.patient_id" FROM (SELECT owner AS owner, "select_2.patient_id" AS "union.patient_id.1" FROM (SELECT owner AS owner, "prescriptions.patient_id" AS "select_2.patient_id" FROM (SELECT "patient_id" AS owner, "patient_id" AS "prescriptions.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL))))) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("p.patient_id" = "t.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Parts of one table
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM (SELECT patient_id, ward FROM visits WHERE paid UNION ALL SELECT patient_id, ward FROM visits WHERE NOT paid) AS t GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = union.patient_id, t.ward = union.ward
--   rows       one below the other as union.patient_id, union.ward
--   rows         columns union.patient_id.0 = select.patient_id, union.ward.0 = select.ward
--   rows           columns select.patient_id = visits.patient_id, select.ward = visits.ward
--   rows             where visits.paid
--   rows               all of visits as visits
--   rows         columns union.patient_id.1 = select_2.patient_id, union.ward.1 = select_2.ward
--   rows           columns select_2.patient_id = visits_2.patient_id, select_2.ward = visits_2.ward
--   rows             where NOT visits_2.paid
--   rows               all of visits as visits_2
--   bound    a person counts for at most 10 rows, and as a person in at most 4 groups
--   keys     t.ward: 4 declared: A, B, it's, NULL
--   by       (t.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 10; Laplace, scale 10; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "t.ward" AS k0, owner FROM (SELECT owner AS owner, "union.ward" AS "t.ward" FROM (SELECT owner AS owner, "union.ward.0" AS "union.ward" FROM (SELECT owner AS owner, "select.ward" AS "union.ward.0" FROM (SELECT owner AS owner, "visits.ward" AS "select.ward" FROM (SELECT owner AS owner, "visits.ward" FROM (SELECT "patient_id" AS owner, "ward" AS "visits.ward", "paid" AS "visits.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE "visits.paid"))) UNION ALL SELECT owner AS owner, "union.ward.1" AS "union.ward" FROM (SELECT owner AS owner, "select_2.ward" AS "union.ward.1" FROM (SELECT owner AS owner, "visits_2.ward" AS "select_2.ward" FROM (SELECT owner AS owner, "visits_2.ward" FROM (SELECT "patient_id" AS owner, "ward" AS "visits_2.ward", "paid" AS "visits_2.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE (NOT "visits_2.paid"))))))),
weights AS (SELECT owner, CAST(least(1048576, 10485760 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
