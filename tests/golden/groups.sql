-- GROUP BY: one row per declared key, whether or not it has rows; other values are dropped.

-- # Counts by ward
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward;

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


-- # Patients by ward are spread over the wards they were in
-- loss: epsilon 1
SELECT ward, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      people; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(DISTINCT patient_id) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0),
shares0 AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN people0 ON keys0.value IS NOT DISTINCT FROM people0.k0 ORDER BY keys0.place;


-- # Counts and means by ward and level
-- loss: epsilon 1
SELECT ward, level, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY ward, level;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   keys     level: 3 declared: 1, 2, 3
--   by       (ward, level): 12 groups
--   [0]      rows; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   [1]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 3, scale 300; epsilon 1
--   [2]      rows with age; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/62914560 x [0]
--   value 2  AVG(age) = (1/1048576 x [1] + 1/1048576 x [2]) / (1/62914560 x [2]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
keys1 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "level" AS k1, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v1, CAST(("age" IS NOT NULL) AS INTEGER) AS v2, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;


-- # Grouping by a date and a condition
-- loss: epsilon 1
SELECT day, paid, SUM(cost) FROM visits GROUP BY day, paid;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     day: 2 declared: 2026-01-01, 2026-01-02
--   keys     paid: 2 declared: TRUE, FALSE
--   by       (day, paid): 4 groups
--   [0]      sum of cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["2026-01-01", "2026-01-02"]'::DATE[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "day" AS k0, "paid" AS k1, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("paid" AS BOOLEAN) AS "paid", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;


-- # An alias may be grouped by
-- loss: epsilon 1
SELECT ward AS w, COUNT(*) FROM visits WHERE paid GROUP BY w;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where paid
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND "paid"),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
