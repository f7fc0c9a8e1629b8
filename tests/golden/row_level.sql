-- people: each row is a person, so no weights are needed.

-- # Rows
-- loss: epsilon 1
SELECT COUNT(*) FROM people;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of people
--   bound    every row counts 1
--   [0]      rows; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT 1 AS one FROM (SELECT 1 AS one FROM "frame people")),
totals AS (SELECT count(*) AS m0 FROM contributions)
SELECT coalesce(m0, 0) FROM totals;


-- # Everything about rows in one pass
-- loss: epsilon 1
SELECT ward, COUNT(*) AS n, COUNT(weight) AS known, SUM(cost) AS cost, AVG(age) AS age FROM people WHERE paid GROUP BY ward;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     where paid
--   rows       all of people
--   bound    every row counts 1
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      rows; one integer is 1, 524288000 times; moves by L1 1; joint noise of 5, scale 1; epsilon 1
--   [1]      rows with weight; one integer is 1, 524288000 times; moves by L1 1; joint noise of 5, scale 1; epsilon 1
--   [2]      sum of cost in [0, 1000], less 500; one integer is 1/1048576, 1 times; moves by L1 500; joint noise of 5, scale 500; epsilon 1
--   [3]      sum of age in [0, 120], less 60; one integer is 1, 8738133 times; moves by L1 60; joint noise of 5, scale 524288000/8738133; epsilon 1
--   [4]      rows with age; one integer is 1, 524288000 times; moves by L1 1; joint noise of 5, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/524288000 x [0]
--   value 2  COUNT(weight) = 1/524288000 x [1]
--   value 3  SUM(cost) = 1/1048576 x [0] + 1/1048576 x [2]
--   value 4  AVG(age) = (1/8738133 x [3] + about 1.14440918e-07 x [4]) / (1/524288000 x [4]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CAST(coalesce("weight" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v2, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v3, CAST(("age" IS NOT NULL) AS INTEGER) AS v4 FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM "frame people") WHERE "paid"),
totals AS (SELECT k0, count(*) AS m0, sum(v1) AS m1, sum(v2) + CAST(count(*) AS HUGEINT) * -524288000 AS m2, sum(v3) AS m3, sum(v4) AS m4 FROM contributions GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0), coalesce(m3, 0), coalesce(m4, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Two grouping columns of rows
-- loss: epsilon 1
SELECT ward, day, COUNT(*) FROM people GROUP BY ward, day;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of people
--   bound    every row counts 1
--   keys     ward: 4 declared: A, B, it's, NULL
--   keys     day: 2 declared: 2026-01-01, 2026-01-02
--   by       (ward, day): 8 groups
--   [0]      rows; one integer is 1; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
keys1 AS (SELECT unnest(range(2)) AS place, unnest('["2026-01-01", "2026-01-02"]'::DATE[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, "day" AS k1 FROM (SELECT CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day" FROM "frame people")),
totals AS (SELECT k0, k1, count(*) AS m0 FROM contributions GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;
