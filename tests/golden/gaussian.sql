-- rho: Gaussian noise, by the L2 norm.

-- # A count with Gaussian noise
-- loss: rho 1/8
SELECT COUNT(*) FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L2 5; Gaussian, sigma 10; rho 0.125
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     rho 0.125

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Means by ward with Gaussian noise
-- loss: rho 1/8
SELECT ward, AVG(cost) FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of visits
--   bound    a person counts for at most 5 rows by the L2 norm over the groups, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      sum of cost in [0, 1000], less 500; one integer is 1/1099511627776; moves by L2 2500; Gaussian, sigma sqrt(102400000000/2597); rho 0.0792542
--   [1]      rows with cost; one integer is 1/1048576; moves by L2 5; Gaussian, sigma sqrt(409600/1499); rho 0.0457459
--   value 1  AVG(cost) = (1/1099511627776 x [0] + 125/262144 x [1]) / (1/1048576 x [1]), kept in [0, 1000]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("cost" - '500.0'::DOUBLE) * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN -524288000 WHEN "cost" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, CAST(coalesce("cost" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs AS (SELECT owner, k0, count(*) AS n FROM contributions GROUP BY owner, k0),
lengths AS (SELECT owner, sum(CAST(n AS HUGEINT) * n) AS squared FROM pairs JOIN keys0 ON keys0.value IS NOT DISTINCT FROM pairs.k0 GROUP BY owner),
weights AS (SELECT owner, CASE WHEN w * w * squared <= 27487790694400 THEN w WHEN (w - 1) * (w - 1) * squared <= 27487790694400 THEN w - 1 ELSE 0 END AS w FROM (SELECT owner, squared, CAST(least(1048576, floor('5242880.0'::DOUBLE / sqrt(CAST(squared AS DOUBLE)))) AS BIGINT) AS w FROM lengths)),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # People by ward move less in L2 than in L1
-- loss: rho 1/8
SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      people; one integer is 1/1048576; moves by L2 2; Gaussian, sigma 4; rho 0.125
--   value 1  COUNT(DISTINCT patient_id) = 1/1048576 x [0]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0),
shares0 AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN people0 ON keys0.value IS NOT DISTINCT FROM people0.k0 ORDER BY keys0.place;


-- # Gaussian noise where one patient is replaced
-- loss: rho 1/8
SELECT ward, COUNT(*) FROM stays GROUP BY ward;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; rho 0.125
--   rows     all of stays
--   bound    a person counts for at most 5 rows by the L2 norm over the groups, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L2 sqrt(50); Gaussian, sigma sqrt(200); rho 0.125
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
pairs AS (SELECT owner, k0, count(*) AS n FROM contributions GROUP BY owner, k0),
lengths AS (SELECT owner, sum(CAST(n AS HUGEINT) * n) AS squared FROM pairs JOIN keys0 ON keys0.value IS NOT DISTINCT FROM pairs.k0 GROUP BY owner),
weights AS (SELECT owner, CASE WHEN w * w * squared <= 27487790694400 THEN w WHEN (w - 1) * (w - 1) * squared <= 27487790694400 THEN w - 1 ELSE 0 END AS w FROM (SELECT owner, squared, CAST(least(1048576, floor('5242880.0'::DOUBLE / sqrt(CAST(squared AS DOUBLE)))) AS BIGINT) AS w FROM lengths)),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Gaussian noise for rows
-- loss: rho 1/8
SELECT level, SUM(age) FROM people GROUP BY level;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of people
--   bound    every row counts 1
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      sum of age in [0, 120]; one integer is 1; moves by L2 120; Gaussian, sigma 240; rho 0.125
--   value 1  SUM(age) = [0]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) WHEN "age" < 0 THEN 0 WHEN "age" > 120 THEN 120 ELSE 0 END AS v0 FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM "frame people")),
totals AS (SELECT k0, sum(v0) AS m0 FROM contributions GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
