-- stays: one patient is replaced by another; the number of patients is public.

-- # One group: a count moves by its own width
-- loss: epsilon 1
SELECT COUNT(*) FROM stays;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Several groups: a patient leaves one and enters another
-- loss: epsilon 1
SELECT ward, COUNT(*) FROM stays GROUP BY ward;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 10; Laplace, scale 10; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A centred sum in one group moves by the width of the range
-- loss: epsilon 1
SELECT AVG(age) FROM stays;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 600; joint noise of 2, scale 600; epsilon 1
--   [1]      rows with age; one integer is 1/1048576, 120 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(age) = (1/1048576 x [0] + 1/2097152 x [1]) / (1/125829120 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # People of several groups
-- loss: epsilon 1
SELECT level, COUNT(DISTINCT patient_id) AS patients FROM stays GROUP BY level;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      people; one integer is 1/1048576; moves by L1 3; Laplace, scale 3; epsilon 1
--   value 1  COUNT(DISTINCT patient_id) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0),
shares0 AS (SELECT owner, CAST(least(1048576, 3145728 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN people0 ON keys0.value IS NOT DISTINCT FROM people0.k0 ORDER BY keys0.place;


-- # A row replaced by a row
-- loss: epsilon 1
SELECT level, COUNT(*), SUM(cost) FROM voters GROUP BY level;

-- plan
--   table    voters: each row is a person; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of voters
--   bound    every row counts 1
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      rows; one integer is 1, 524288000 times; moves by L1 2; joint noise of 2, scale 2; epsilon 1
--   [1]      sum of cost in [0, 1000], less 500; one integer is 1/1048576, 1 times; moves by L1 1000; joint noise of 2, scale 1000; epsilon 1
--   value 1  COUNT(*) = 1/524288000 x [0]
--   value 2  SUM(cost) = 1/1048576 x [0] + 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v1 FROM (SELECT CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level" FROM "frame voters")),
totals AS (SELECT k0, count(*) AS m0, sum(v1) + CAST(count(*) AS HUGEINT) * -524288000 AS m1 FROM contributions GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
