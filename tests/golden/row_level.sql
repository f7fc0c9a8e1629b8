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
WITH contributions AS NOT MATERIALIZED (SELECT 1 AS one FROM "frame people"),
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
--   [0]      rows; one integer is 1; moves by L1 1; Laplace, scale 4096/875; epsilon 0.213624
--   [1]      rows with weight; one integer is 1; moves by L1 1; Laplace, scale 512/109; epsilon 0.212891
--   [2]      sum of cost in [0, 1000]; one integer is 1/1048576; moves by L1 1000; Laplace, scale 512000/109; epsilon 0.212891
--   [3]      sum of age in [0, 120], less 60; one integer is 1; moves by L1 60; Laplace, scale 30720/109; epsilon 0.212891
--   [4]      rows with age; one integer is 1; moves by L1 1; Laplace, scale 4096/605; epsilon 0.147706
--   value 1  COUNT(*) = [0]
--   value 2  COUNT(weight) = [1]
--   value 3  SUM(cost) = 1/1048576 x [2]
--   value 4  AVG(age) = ([3] + 60 x [4]) / ([4]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT TRY_CAST("ward" AS VARCHAR) AS k0, CAST(coalesce(TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, (CAST(greatest(least(TRY_CAST("cost" AS DOUBLE), '1000.0'::DOUBLE), '0.0'::DOUBLE) * '1048576.0'::DOUBLE AS INTEGER)) * CAST(coalesce(TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, (CAST(greatest(least(TRY_CAST("age" AS BIGINT), 120), 0) AS INTEGER) - 60) * CAST((TRY_CAST("age" AS BIGINT) IS NOT NULL) AS INTEGER) AS v3, CAST((TRY_CAST("age" AS BIGINT) IS NOT NULL) AS INTEGER) AS v4 FROM "frame people" WHERE TRY_CAST("paid" AS BOOLEAN)),
totals AS (SELECT k0, count(*) AS m0, sum(v1) AS m1, sum(v2) AS m2, sum(v3) AS m3, sum(v4) AS m4 FROM contributions GROUP BY k0)
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
contributions AS NOT MATERIALIZED (SELECT TRY_CAST("ward" AS VARCHAR) AS k0, TRY_CAST("day" AS DATE) AS k1 FROM "frame people"),
totals AS (SELECT k0, k1, count(*) AS m0 FROM contributions GROUP BY k0, k1)
SELECT coalesce(m0, 0) FROM keys0 CROSS JOIN keys1 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 AND keys1.value IS NOT DISTINCT FROM totals.k1 ORDER BY keys0.place, keys1.place;
