-- Post-processing: on noisy values only, so that it costs nothing and the engine never sees it.

-- # HAVING, ORDER BY and LIMIT
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10 ORDER BY n DESC, ward LIMIT 2 OFFSET 1;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A ratio of two aggregates
-- loss: epsilon 1
SELECT SUM(cost) / COUNT(*) AS per_visit FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost in [0, 1000], less 500; one integer is 1/1099511627776, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   [1]      rows; one integer is 1/1048576, 524288000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  SUM(cost) = 1/1099511627776 x [0] + 1/1099511627776 x [1]
--   value 2  COUNT(*) = 1/549755813888000 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) + CAST(sum(w) AS HUGEINT) * -524288000 AS m0, sum(w) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Arithmetic on aggregates
-- loss: epsilon 1
SELECT ROUND(100 * COUNT(age) / COUNT(*), 1) AS known, GREATEST(COUNT(*), 0) AS n FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows with age; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      rows; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  COUNT(age) = 1/1048576 x [0]
--   value 2  COUNT(*) = 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CAST(("age" IS NOT NULL) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # An aggregate that is only ordered by is paid for too
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY SUM(cost);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576, 524288000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      sum of cost in [0, 1000], less 500; one integer is 1/1099511627776, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   value 1  COUNT(*) = 1/549755813888000 x [0]
--   value 2  SUM(cost) = 1/1099511627776 x [0] + 1/1099511627776 x [1]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0, sum(w * v1) + CAST(sum(w) AS HUGEINT) * -524288000 AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
