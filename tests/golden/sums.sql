-- SUM: values are clamped to the declared range and put on a lattice of integers.

-- # A sum of whole numbers stays in whole numbers
-- loss: epsilon 1
SELECT SUM(age) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of age in [0, 120]; one integer is 1/1048576; moves by L1 600; Laplace, scale 600; epsilon 1
--   value 1  SUM(age) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) WHEN "age" < 0 THEN 0 WHEN "age" > 120 THEN 120 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A sum of real numbers is rounded to a fine lattice
-- loss: epsilon 1
SELECT SUM(cost) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A sum of an expression is clamped to the range of the expression
-- loss: epsilon 1
SELECT SUM(cost - 2 * age) AS margin FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost - 2 * age in [-240, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(cost - 2 * age) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(("cost" - ('2.0'::DOUBLE * CAST("age" AS DOUBLE))), '1000.0'::DOUBLE), '-240.0'::DOUBLE) * '1048576.0'::DOUBLE AS INTEGER)) * CAST(coalesce(("cost" - ('2.0'::DOUBLE * CAST("age" AS DOUBLE))) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A column without a range is clamped in the question
-- loss: epsilon 1
SELECT SUM(LEAST(GREATEST(weight, 0), 200)) AS weight FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of LEAST(GREATEST(weight, 0), 200) in [0, 200]; one integer is 1/4398046511104; moves by L1 1000; Laplace, scale 1000; epsilon 1
--   value 1  SUM(LEAST(GREATEST(weight, 0), 200)) = 1/4398046511104 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(least(greatest("weight", '0.0'::DOUBLE), '200.0'::DOUBLE), '200.0'::DOUBLE), '0.0'::DOUBLE) * '4194304.0'::DOUBLE AS INTEGER)) * CAST(coalesce(least(greatest("weight", '0.0'::DOUBLE), '200.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A sum of ones and zeros
-- loss: epsilon 1
SELECT SUM(CASE WHEN paid THEN 1 ELSE 0 END) AS paid FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of CASE WHEN paid THEN 1 ELSE 0 END in [0, 1]; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  SUM(CASE WHEN paid THEN 1 ELSE 0 END) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(CAST(CASE WHEN "paid" THEN 1 ELSE 0 END AS DOUBLE), '1.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(CASE WHEN "paid" THEN 1 ELSE 0 END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text read as a number
-- loss: epsilon 1
SELECT SUM(LEAST(GREATEST(CAST(note AS DOUBLE), -1), 1)) AS s FROM visits;

-- plain
SELECT SUM(LEAST(GREATEST(TRY_CAST(note AS DOUBLE), -1), 1)) AS s FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of LEAST(GREATEST(CAST(note AS DOUBLE), -1), 1) in [-1, 1]; one integer is 1/1125899906842624; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  SUM(LEAST(GREATEST(CAST(note AS DOUBLE), -1), 1)) = 1/1125899906842624 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(least(greatest(TRY_CAST("note" AS DOUBLE), '-1.0'::DOUBLE), '1.0'::DOUBLE), '1.0'::DOUBLE), '-1.0'::DOUBLE) * '1073741824.0'::DOUBLE AS INTEGER)) * CAST(coalesce(least(greatest(TRY_CAST("note" AS DOUBLE), '-1.0'::DOUBLE), '1.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # The keys of a column are a range too
-- loss: epsilon 1
SELECT SUM(level) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of level in [1, 3]; one integer is 1/1048576; moves by L1 15; Laplace, scale 15; epsilon 1
--   value 1  SUM(level) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "level" BETWEEN 1 AND 3 THEN TRY_CAST("level" AS INTEGER) WHEN "level" < 1 THEN 1 WHEN "level" > 3 THEN 3 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text read as a whole number
-- loss: epsilon 1
SELECT SUM(LEAST(GREATEST(CAST(note AS INTEGER), 0), 9)) AS s FROM visits;

-- plain
SELECT SUM(LEAST(GREATEST(TRY_CAST(note AS INTEGER), 0), 9)) AS s FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of LEAST(GREATEST(CAST(note AS INTEGER), 0), 9) in [0, 9]; one integer is 1/1048576; moves by L1 45; Laplace, scale 45; epsilon 1
--   value 1  SUM(LEAST(GREATEST(CAST(note AS INTEGER), 0), 9)) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(least(greatest(round_even(TRY_CAST("note" AS DOUBLE), 0), '0.0'::DOUBLE), '9.0'::DOUBLE), '9.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(least(greatest(round_even(TRY_CAST("note" AS DOUBLE), 0), '0.0'::DOUBLE), '9.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
