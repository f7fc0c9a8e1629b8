-- AVG: a centred sum over a count, so that the sum moves by half the width of the range only.

-- # The mean age
-- loss: epsilon 1
SELECT AVG(age) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 2, scale 300; epsilon 1
--   [1]      rows with age; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # The mean cost
-- loss: epsilon 1
SELECT AVG(cost) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   [1]      rows with cost; one integer is 1/1048576, 1048576000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(cost) = (1/2199023255552 x [0] + 1/2199023255552 x [1]) / (1/1099511627776000 x [1]), kept in [0, 1000]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("cost" - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN -1048576000 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, CAST(coalesce("cost" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A mean shares its count
-- loss: epsilon 1
SELECT AVG(age) AS mean, COUNT(age) AS n FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 2, scale 300; epsilon 1
--   [1]      rows with age; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   value 2  COUNT(age) = 1/62914560 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A mean and a sum of one column are two measures and a count
-- loss: epsilon 1
SELECT AVG(age) AS mean, SUM(age) AS total FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 2, scale 300; epsilon 1
--   [1]      rows with age; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   value 2  SUM(age) = 1/1048576 x [0] + 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A mean of a ratio whose denominator is never 0
-- loss: epsilon 1
-- tolerance: 1e-6
SELECT AVG(cost / (age + 1)) AS r FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost / (age + 1) in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   [1]      rows with cost / (age + 1); one integer is 1/1048576, 1048576000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(cost / (age + 1)) = (1/2199023255552 x [0] + 1/2199023255552 x [1]) / (1/1099511627776000 x [1]), kept in [0, 1000]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(("cost" / nullif((CAST("age" AS DOUBLE) + '1.0'::DOUBLE), 0)), '1000.0'::DOUBLE), '0.0'::DOUBLE) - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER)) * CAST(coalesce(("cost" / nullif((CAST("age" AS DOUBLE) + '1.0'::DOUBLE), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(("cost" / nullif((CAST("age" AS DOUBLE) + '1.0'::DOUBLE), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;
