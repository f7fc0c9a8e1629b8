-- COUNT: rows, rows with a value, people. One person counts for at most 5 visits.

-- # All visits
-- loss: epsilon 1
SELECT COUNT(*) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Visits whose weight is known: neither NULL nor NaN
-- loss: epsilon 1
SELECT COUNT(weight) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows with weight; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(weight) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CAST(coalesce("weight" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Patients
-- loss: epsilon 1/2
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 0.5
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      people; one integer is 1; moves by L1 1; Laplace, scale 2; epsilon 0.5
--   value 1  COUNT(DISTINCT patient_id) = [0]
--   cost     epsilon 0.5

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
people0 AS (SELECT count(DISTINCT owner) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM people0;


-- # Patients and visits share the loss
-- loss: epsilon 1
SELECT COUNT(DISTINCT patient_id) AS patients, COUNT(*) AS visits FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      people; one integer is 1, 5242880 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   [1]      rows; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  COUNT(DISTINCT patient_id) = 1/5242880 x [0]
--   value 2  COUNT(*) = 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m1 FROM contributions JOIN weights USING (owner)),
people0 AS (SELECT count(DISTINCT owner) AS m0 FROM contributions)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals CROSS JOIN people0;


-- # The same count twice is measured once
-- loss: epsilon 1
SELECT COUNT(*) AS n, COUNT(*) AS again FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
