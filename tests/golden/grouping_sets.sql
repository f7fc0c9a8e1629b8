-- ROLLUP, CUBE and GROUPING SETS: each set is measured, and totals are made to agree.

-- # Wards and their total
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/2513; epsilon 0.613526
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1583; epsilon 0.386475
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (coalesce("ward" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (coalesce("ward" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Wards, levels and totals
-- loss: epsilon 1
SELECT level, paid, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY ROLLUP (level, paid);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     paid: 2 declared: TRUE, FALSE
--   by       (level, paid): 6 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 40960/1747; epsilon 0.213257
--   [1]      sum of cost in [0, 1000]; one integer is 1/274877906944; moves by L1 5000; Laplace, scale 40960000/1747; epsilon 0.213257
--   by       (level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 40960/1387; epsilon 0.169312
--   [1]      sum of cost in [0, 1000]; one integer is 1/274877906944; moves by L1 5000; Laplace, scale 40960000/1387; epsilon 0.169312
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/481; epsilon 0.117432
--   [1]      sum of cost in [0, 1000]; one integer is 1/274877906944; moves by L1 5000; Laplace, scale 20480000/481; epsilon 0.117432
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  SUM(cost) = 1/274877906944 x [1]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "paid" AS k1, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '262144.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 262144000 ELSE 0 END AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '262144.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 262144000 ELSE 0 END AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '262144.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 262144000 ELSE 0 END AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # All combinations
-- loss: epsilon 1
SELECT level, paid, COUNT(*) AS n FROM visits GROUP BY CUBE (level, paid);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     paid: 2 declared: TRUE, FALSE
--   by       (level, paid): 6 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1349; epsilon 0.329346
--   by       (level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 2048/107; epsilon 0.261231
--   by       (paid): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 4096/187; epsilon 0.228272
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 10240/371; epsilon 0.181153
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "paid" AS k1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "paid" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Listed sets
-- loss: epsilon 1
SELECT level, ward, SUM(cost) AS cost FROM visits GROUP BY GROUPING SETS ((level), (ward));

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (level): 3 groups
--   [0]      sum of cost in [0, 1000]; one integer is 1/549755813888; moves by L1 5000; Laplace, scale 409600/39; epsilon 0.476075
--   by       (ward): 4 groups
--   [0]      sum of cost in [0, 1000]; one integer is 1/549755813888; moves by L1 5000; Laplace, scale 10240000/1073; epsilon 0.523926
--   value 1  SUM(cost) = 1/549755813888 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '524288.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '524288.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A mean in each set
-- loss: epsilon 1
SELECT level, AVG(age) AS age FROM visits GROUP BY ROLLUP (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576; moves by L1 300; Laplace, scale 5033164800/5851561; epsilon 0.348781
--   [1]      rows with age; one integer is 1/1048576; moves by L1 5; Laplace, scale 83886080/4056663; epsilon 0.241796
--   by       (): 1 group
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576; moves by L1 300; Laplace, scale 1677721600/1352221; epsilon 0.241796
--   [1]      rows with age; one integer is 1/1048576; moves by L1 5; Laplace, scale 83886080/2812329; epsilon 0.167628
--   value 1  AVG(age) = (1/1048576 x [0] + 15/262144 x [1]) / (1/1048576 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # GROUPING tells a total from a NULL
-- loss: epsilon 1
SELECT ward, GROUPING(ward) AS total, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/2513; epsilon 0.613526
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1583; epsilon 0.386475
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (coalesce("ward" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (coalesce("ward" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # People in each set
-- loss: epsilon 1
SELECT level, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY CUBE (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      people; one integer is 1/1048576; moves by L1 3; Laplace, scale 12288/2419; epsilon 0.590577
--   by       (): 1 group
--   [0]      people; one integer is 1/1048576; moves by L1 1; Laplace, scale 4096/1677; epsilon 0.409424
--   value 1  COUNT(DISTINCT patient_id) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0),
shares0 AS (SELECT owner, CAST(least(1048576, 3145728 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN people0 ON keys0.value IS NOT DISTINCT FROM people0.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
people0 AS (SELECT count(DISTINCT owner) * 1048576 AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM people0;


-- # A column beside a ROLLUP
-- loss: epsilon 1
SELECT level, paid, COUNT(*) AS n FROM visits GROUP BY level, ROLLUP (paid);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     paid: 2 declared: TRUE, FALSE
--   by       (level, paid): 6 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5120/571; epsilon 0.557618
--   by       (level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5120/453; epsilon 0.442383
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "paid" AS k1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND coalesce("paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Sets that skip a column
-- loss: epsilon 1
SELECT level, ward, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((level, ward), (), (ward));

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (level, ward): 12 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1923; epsilon 0.469483
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 512/21; epsilon 0.205079
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1333; epsilon 0.32544
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
keys1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "ward" AS k1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;

WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A median in each set
-- loss: epsilon 1
SELECT level, MEDIAN(age) AS age FROM visits GROUP BY ROLLUP (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.516755
--   [1]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0369111
--   [2]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0369111
--   by       (): 1 group
--   [0]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.358246
--   [1]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.025589
--   [2]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.025589
--   value 1  MEDIAN(age) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT keys0.place * 1, cell, m0 FROM keys0 JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A histogram in each set
-- loss: epsilon 1
SELECT level, HISTOGRAM(paid) AS paid FROM visits GROUP BY ROLLUP (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      cells of paid, 2 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/2419; epsilon 0.590577
--   by       (): 1 group
--   [0]      cells of paid, 2 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1677; epsilon 0.409424
--   value 1  HISTOGRAM(paid) = 1/1048576 x [0] for True, False
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, list_position('[True, False]'::BOOLEAN[], TRY_CAST("paid" AS BOOLEAN)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT keys0.place * 1, cell, m0 FROM keys0 JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT list_position('[True, False]'::BOOLEAN[], TRY_CAST("paid" AS BOOLEAN)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # Different values in each set
-- loss: epsilon 1
SELECT level, COUNT(DISTINCT note) AS notes FROM visits GROUP BY ROLLUP (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      different values of note; one integer is 1; moves by L1 5; Laplace, scale 20480/2419; epsilon 0.590577
--   by       (): 1 group
--   [0]      different values of note; one integer is 1; moves by L1 5; Laplace, scale 20480/1677; epsilon 0.409424
--   value 1  COUNT(DISTINCT note) = [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN ("note" IS NOT NULL) THEN "note" END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
kept0 AS (SELECT owner, k0, v0 FROM (SELECT owner, d.k0 AS k0, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '') || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.k0, d.v0) AS place FROM (SELECT DISTINCT owner, k0, v0 FROM contributions WHERE v0 IS NOT NULL) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0) WHERE place <= 5),
values0 AS (SELECT k0, count(DISTINCT v0) AS m0 FROM kept0 GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN values0 ON keys0.value IS NOT DISTINCT FROM values0.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN ("note" IS NOT NULL) THEN "note" END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
kept0 AS (SELECT owner, v0 FROM (SELECT owner, d.v0 AS v0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.v0 AS VARCHAR), '')), d.v0) AS place FROM (SELECT DISTINCT owner, v0 FROM contributions WHERE v0 IS NOT NULL) AS d) WHERE place <= 5),
values0 AS (SELECT count(DISTINCT v0) AS m0 FROM kept0)
SELECT coalesce(m0, 0) FROM values0;


-- # A variance in each set
-- loss: epsilon 1
SELECT level, VAR_POP(age) AS variance FROM visits GROUP BY ROLLUP (level);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      rows with age; one integer is 1/1048576; moves by L1 5; Laplace, scale 83886080/3026169; epsilon 0.180374
--   [1]      sum of age in [0, 120], less 60; one integer is 1/1048576; moves by L1 300; Laplace, scale 5033164800/3437399; epsilon 0.204885
--   [2]      sum of (CLAMP(age, 0, 120) - 60) * (CLAMP(age, 0, 120) - 60) in [0, 3600], less 1800; one integer is 1/274877906944; moves by L1 9000; Laplace, scale 9437184000/215291; epsilon 0.205318
--   by       (): 1 group
--   [0]      rows with age; one integer is 1/1048576; moves by L1 5; Laplace, scale 83886080/2097927; epsilon 0.125047
--   [1]      sum of age in [0, 120], less 60; one integer is 1/1048576; moves by L1 300; Laplace, scale 1677721600/794339; epsilon 0.142039
--   [2]      sum of (CLAMP(age, 0, 120) - 60) * (CLAMP(age, 0, 120) - 60) in [0, 3600], less 1800; one integer is 1/274877906944; moves by L1 9000; Laplace, scale 3145728000/49751; epsilon 0.142339
--   value 1  VAR_POP(age) = from n = 1/1048576 x [0]; sx = 1/1048576 x [1]; sxx = 225/131072 x [0] + 1/274877906944 x [2], x less 60
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CAST(("age" IS NOT NULL) AS INTEGER) AS v0, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v1, (CAST((greatest(least(((CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE) * (CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE)), '3600.0'::DOUBLE), '0.0'::DOUBLE) - '1800.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER)) * CAST(coalesce(((CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE) * (CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CAST(("age" IS NOT NULL) AS INTEGER) AS v0, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v1, (CAST((greatest(least(((CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE) * (CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE)), '3600.0'::DOUBLE), '0.0'::DOUBLE) - '1800.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER)) * CAST(coalesce(((CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE) * (CASE WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN greatest(least(CAST("age" AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) END - '60.0'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM totals;


-- # HAVING over totals that agree
-- loss: epsilon 1
SELECT level, ward, COUNT(*) AS n FROM visits GROUP BY CUBE (level, ward) HAVING n > 12;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     level: 3 declared: 1, 2, 3
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (level, ward): 12 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5120/371; epsilon 0.362305
--   by       (level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 4096/187; epsilon 0.228272
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1029; epsilon 0.251221
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 2560/81; epsilon 0.158204
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
keys1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "ward" AS k1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
required1 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND coalesce("level" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) AND (coalesce("ward" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE) OR "ward" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A cube over a join with Gaussian noise
-- loss: rho 1/8
SELECT p.sex, v.paid, COUNT(*) AS n FROM visits v JOIN patients p USING (patient_id) GROUP BY CUBE (p.sex, v.paid);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   table    patients: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     inner join, within each owner, on v.patient_id = p.patient_id
--   rows       all of visits as v
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   keys     v.paid: 2 declared: TRUE, FALSE
--   by       (p.sex, v.paid): 6 groups
--   [0]      rows; one integer is 1/1048576; moves by L2 5; Gaussian, sigma 640/39; rho 0.0464173
--   by       (p.sex): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L2 5; Gaussian, sigma sqrt(102400/269); rho 0.032837
--   by       (v.paid): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L2 5; Gaussian, sigma sqrt(204800/439); rho 0.0267945
--   by       (): 1 group
--   [0]      rows; one integer is 1/1048576; moves by L2 5; Gaussian, sigma sqrt(409600/621); rho 0.0189515
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, "v.paid" AS k1, owner FROM (SELECT l.owner AS owner, "v.paid", "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "paid" AS "v.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id")) WHERE (coalesce("p.sex" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "p.sex" IS NULL) AND coalesce("v.paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, owner FROM (SELECT l.owner AS owner, "v.paid", "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "paid" AS "v.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id")) WHERE (coalesce("p.sex" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "p.sex" IS NULL) AND coalesce("v.paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
required0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT "v.paid" AS k0, owner FROM (SELECT l.owner AS owner, "v.paid", "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "paid" AS "v.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id")) WHERE (coalesce("p.sex" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "p.sex" IS NULL) AND coalesce("v.paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH required0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
required1 AS (SELECT unnest(range(2)) AS place, unnest('[True, False]'::BOOLEAN[]) AS value),
contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner, "v.paid", "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "paid" AS "v.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id")) WHERE (coalesce("p.sex" IN (SELECT value FROM required0 WHERE value IS NOT NULL), FALSE) OR "p.sex" IS NULL) AND coalesce("v.paid" IN (SELECT value FROM required1 WHERE value IS NOT NULL), FALSE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
