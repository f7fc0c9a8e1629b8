-- Subqueries and WITH: their rows are intermediate and keep their owners.

-- # Columns made in a subquery
-- loss: epsilon 1
SELECT SUM(x) AS total FROM (SELECT cost + age AS x FROM visits WHERE paid) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.x = select.x
--   rows       columns select.x = visits.cost + visits.age
--   rows         where visits.paid
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of t.x in [0, 1120]; one integer is 1/549755813888; moves by L1 5600; Laplace, scale 5600; epsilon 1
--   value 1  SUM(t.x) = 1/549755813888 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.x" BETWEEN '0.0'::DOUBLE AND '1120.0'::DOUBLE THEN TRY_CAST("t.x" * '524288.0'::DOUBLE AS INTEGER) WHEN "t.x" < '0.0'::DOUBLE THEN 0 WHEN "t.x" <= 'inf'::DOUBLE THEN 587202560 ELSE 0 END AS v0, owner FROM (SELECT owner AS owner, "select.x" AS "t.x" FROM (SELECT owner AS owner, ("visits.cost" + CAST("visits.age" AS DOUBLE)) AS "select.x" FROM (SELECT owner AS owner, "visits.age", "visits.cost" FROM (SELECT "patient_id" AS owner, "age" AS "visits.age", "cost" AS "visits.cost", "paid" AS "visits.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE "visits.paid")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A table of WITH
-- loss: epsilon 1
WITH paid_visits AS (SELECT patient_id, cost, ward FROM visits WHERE paid) SELECT ward, SUM(cost) AS cost FROM paid_visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns paid_visits.patient_id = select.patient_id, paid_visits.cost = select.cost, paid_visits.ward = select.ward
--   rows       columns select.patient_id = visits.patient_id, select.cost = visits.cost, select.ward = visits.ward
--   rows         where visits.paid
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     paid_visits.ward: 4 declared: A, B, it's, NULL
--   by       (paid_visits.ward): 4 groups
--   [0]      sum of paid_visits.cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(paid_visits.cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "paid_visits.ward" AS k0, CASE WHEN "paid_visits.cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("paid_visits.cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "paid_visits.cost" < '0.0'::DOUBLE THEN 0 WHEN "paid_visits.cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, owner FROM (SELECT owner AS owner, "select.cost" AS "paid_visits.cost", "select.ward" AS "paid_visits.ward" FROM (SELECT owner AS owner, "visits.cost" AS "select.cost", "visits.ward" AS "select.ward" FROM (SELECT owner AS owner, "visits.cost", "visits.ward" FROM (SELECT "patient_id" AS owner, "cost" AS "visits.cost", "ward" AS "visits.ward", "paid" AS "visits.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE "visits.paid")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A table of WITH that reads another one
-- loss: epsilon 1
WITH a AS (SELECT patient_id, age FROM visits), b AS (SELECT patient_id FROM a WHERE age > 40) SELECT COUNT(*) AS n FROM b;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns b.patient_id = select_2.patient_id
--   rows       columns select_2.patient_id = a.patient_id
--   rows         where a.age > 40
--   rows           columns a.patient_id = select.patient_id, a.age = select.age
--   rows             columns select.patient_id = visits.patient_id, select.age = visits.age
--   rows               all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner, "select.age" AS "a.age" FROM (SELECT owner AS owner, "visits.age" AS "select.age" FROM (SELECT "patient_id" AS owner, "age" AS "visits.age" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))) WHERE ("a.age" > 40))))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A table of WITH that is read twice
-- loss: epsilon 1, max_rows 9
WITH a AS (SELECT patient_id, level FROM visits) SELECT COUNT(*) AS n FROM a x JOIN a y ON x.patient_id = y.patient_id AND x.level < y.level;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on x.patient_id = y.patient_id AND x.level < y.level
--   rows       at most 1020 rows of each owner
--   rows         columns x.patient_id = select.patient_id, x.level = select.level
--   rows           columns select.patient_id = visits.patient_id, select.level = visits.level
--   rows             all of visits as visits
--   rows       at most 1020 rows of each owner
--   rows         columns y.patient_id = select_2.patient_id, y.level = select_2.level
--   rows           columns select_2.patient_id = visits_2.patient_id, select_2.level = visits_2.level
--   rows             all of visits as visits_2
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 9; Laplace, scale 9; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner FROM (WITH capped_rows AS (SELECT owner AS owner, "select.patient_id" AS "x.patient_id", "select.level" AS "x.level" FROM (SELECT owner AS owner, "visits.patient_id" AS "select.patient_id", "visits.level" AS "select.level" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."x.patient_id" AS "x.patient_id", r."x.level" AS "x.level" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "x.patient_id", "x.level" FROM (SELECT r.owner AS owner, r."x.patient_id" AS "x.patient_id", r."x.level" AS "x.level", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."x.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."x.level" AS VARCHAR), '')), r."x.patient_id", r."x.level") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS l JOIN (WITH capped_rows AS (SELECT owner AS owner, "select_2.patient_id" AS "y.patient_id", "select_2.level" AS "y.level" FROM (SELECT owner AS owner, "visits_2.patient_id" AS "select_2.patient_id", "visits_2.level" AS "select_2.level" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits_2.patient_id", "level" AS "visits_2.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."y.patient_id" AS "y.patient_id", r."y.level" AS "y.level" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "y.patient_id", "y.level" FROM (SELECT r.owner AS owner, r."y.patient_id" AS "y.patient_id", r."y.level" AS "y.level", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."y.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."y.level" AS VARCHAR), '')), r."y.patient_id", r."y.level") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS r ON l.owner = r.owner AND (("x.patient_id" = "y.patient_id") AND ("x.level" < "y.level")))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Columns renamed in brackets
-- loss: epsilon 1
SELECT AVG(years) AS mean FROM (SELECT patient_id, age FROM visits) AS t(id, years);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.id = select.patient_id, t.years = select.age
--   rows       columns select.patient_id = visits.patient_id, select.age = visits.age
--   rows         all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of t.years in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 2, scale 300; epsilon 1
--   [1]      rows with t.years; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(t.years) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.years" BETWEEN 0 AND 120 THEN TRY_CAST("t.years" AS INTEGER) - 60 WHEN "t.years" < 0 THEN -60 WHEN "t.years" > 120 THEN 60 ELSE 0 END AS v0, CAST(("t.years" IS NOT NULL) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.age" AS "t.years" FROM (SELECT owner AS owner, "visits.age" AS "select.age" FROM (SELECT "patient_id" AS owner, "age" AS "visits.age" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL)))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # The owner under another name is still the owner
-- loss: epsilon 1
SELECT COUNT(DISTINCT id) AS people FROM (SELECT patient_id AS id FROM visits WHERE level = 2) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.id = select.id
--   rows       columns select.id = visits.patient_id
--   rows         where visits.level = 2
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      people; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(DISTINCT t.id) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT "patient_id" AS owner, "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE ("visits.level" = 2))))),
people0 AS (SELECT count(DISTINCT owner) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM people0;


-- # All columns of a subquery
-- loss: epsilon 1
SELECT level, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age < 50) AS t GROUP BY level;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.age = select.age, t.cost = select.cost, t.weight = select.weight, t.level = select.level, t.ward = select.ward, t.note = select.note, t.paid = select.paid, t.day = select.day, t.at = select.at
--   rows       columns select.patient_id = visits.patient_id, select.age = visits.age, select.cost = visits.cost, select.weight = visits.weight, select.level = visits.level, select.ward = visits.ward, select.note = visits.note, select.paid = visits.paid, select.day = visits.day, select.at = visits.at
--   rows         where visits.age < 50
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     t.level: 3 declared: 1, 2, 3
--   by       (t.level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS MATERIALIZED (SELECT "t.level" AS k0, owner FROM (SELECT owner AS owner, "select.level" AS "t.level" FROM (SELECT owner AS owner, "visits.level" AS "select.level" FROM (SELECT owner AS owner, "visits.level" FROM (SELECT "patient_id" AS owner, "age" AS "visits.age", "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE ("visits.age" < 50))))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A subquery inside a subquery
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM (SELECT x + 1 AS y FROM (SELECT level * 2 AS x FROM visits) AS a) AS b WHERE y > 4;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where b.y > 4
--   rows       columns b.y = select_2.y
--   rows         columns select_2.y = a.x + 1
--   rows           columns a.x = select.x
--   rows             columns select.x = visits.level * 2
--   rows               all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner, "select_2.y" AS "b.y" FROM (SELECT owner AS owner, ("a.x" + '1.0'::DOUBLE) AS "select_2.y" FROM (SELECT owner AS owner, "select.x" AS "a.x" FROM (SELECT owner AS owner, (CAST("visits.level" AS DOUBLE) * '2.0'::DOUBLE) AS "select.x" FROM (SELECT "patient_id" AS owner, "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL))))) WHERE ("b.y" > '4.0'::DOUBLE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A subquery joined with a table
-- loss: epsilon 1
SELECT p.sex, SUM(t.cost) AS cost FROM (SELECT patient_id, cost FROM visits WHERE level = 1) AS t JOIN patients p ON p.patient_id = t.patient_id GROUP BY p.sex;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on p.patient_id = t.patient_id
--   rows       columns t.patient_id = select.patient_id, t.cost = select.cost
--   rows         columns select.patient_id = visits.patient_id, select.cost = visits.cost
--   rows           where visits.level = 1
--   rows             all of visits as visits
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      sum of t.cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(t.cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CASE WHEN "t.cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("t.cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "t.cost" < '0.0'::DOUBLE THEN 0 WHEN "t.cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "t.cost", "p.sex" FROM (SELECT owner AS owner, "select.patient_id" AS "t.patient_id", "select.cost" AS "t.cost" FROM (SELECT owner AS owner, "visits.patient_id" AS "select.patient_id", "visits.cost" AS "select.cost" FROM (SELECT owner AS owner, "visits.patient_id", "visits.cost" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost", "level" AS "visits.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) WHERE ("visits.level" = 1)))) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("p.patient_id" = "t.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Rows that are people, through a subquery
-- loss: epsilon 1
SELECT AVG(double_age) AS mean FROM (SELECT age * 2 AS double_age FROM people) AS t;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.double_age = select.double_age
--   rows       columns select.double_age = people.age * 2
--   rows         all of people as people
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.double_age in [0, 240], less 120; one integer is 1/1048576, 1 times; moves by L1 120; joint noise of 2, scale 120; epsilon 1
--   [1]      rows with t.double_age; one integer is 1/1048576, 120 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.double_age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/125829120 x [1]), kept in [0, 240]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.double_age" BETWEEN '0.0'::DOUBLE AND '240.0'::DOUBLE THEN TRY_CAST(("t.double_age" - '120.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER) WHEN "t.double_age" < '0.0'::DOUBLE THEN -120 WHEN "t.double_age" <= 'inf'::DOUBLE THEN 120 ELSE 0 END AS v0, CAST(coalesce("t.double_age" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.double_age" AS "t.double_age" FROM (SELECT owner AS owner, (CAST("people.age" AS DOUBLE) * '2.0'::DOUBLE) AS "select.double_age" FROM (SELECT row_number() OVER () AS owner, "age" AS "people.age" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note", TRY_CAST("paid" AS BOOLEAN) AS "paid", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day", CASE WHEN TRY_CAST("at" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("at" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "at" FROM "frame people"))))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;
