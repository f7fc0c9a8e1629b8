-- WHERE: every function of the language, in the engine's words. None of them can raise.

-- # Comparisons of whole numbers stay whole
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE age > 60 AND age <= 90 OR level = 1 OR level <> age;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (((("age" > 60) AND ("age" <= 90)) OR ("level" = 1)) OR ("level" <> "age"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Arithmetic is done in doubles
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE age * 2 + level - 1 < 100;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND ((((CAST("age" AS DOUBLE) * '2.0'::DOUBLE) + CAST("level" AS DOUBLE)) - '1.0'::DOUBLE) < '100.0'::DOUBLE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A division by zero is NULL
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE cost / age >= 0.1;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (("cost" / nullif(CAST("age" AS DOUBLE), 0)) >= '0.1'::DOUBLE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Rounding
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE FLOOR(cost) = CEIL(weight) AND ROUND(cost, 1) = ROUND(weight);

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND ((floor("cost") = ceil("weight")) AND (round("cost", 1) = round("weight")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Signs
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE ABS(-weight) > 1;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (abs((-"weight")) > '1.0'::DOUBLE)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # NULL
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE note IS NULL AND age IS NOT NULL AND COALESCE(age, level, 0) = 0;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND ((("note" IS NULL) AND (NOT ("age" IS NULL))) AND (CAST(coalesce("age", "level", 0) AS DOUBLE) = '0.0'::DOUBLE))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A list
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'it''s') AND age NOT IN (1, 2);

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (("ward" IN ('A', 'it''s')) AND (NOT ("age" IN (1, 2))))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Patterns and case of text
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE note NOT LIKE '%x_' AND LOWER(note) = 'a' AND UPPER(ward) = 'B';

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (((NOT ("note" LIKE '%x_')) AND (lower("note") = 'a')) AND (upper("ward") = 'B'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Dates and times
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE day >= '2026-01-01' AND at < '2026-01-02 12:30:00';

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (("day" >= DATE '2026-01-01') AND ("at" < TIMESTAMP '2026-01-02 12:30:00'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Conditions as values
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE NOT paid OR paid IS TRUE OR CASE WHEN age > 1 THEN paid ELSE FALSE END;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (((NOT "paid") OR coalesce(("paid" = TRUE), FALSE)) OR CASE WHEN ("age" > 1) THEN "paid" ELSE FALSE END)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Between
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND (("age" >= 18) AND ("age" <= 65))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # The unit may be used in a filter
-- loss: epsilon 1
SELECT COUNT(*) FROM visits WHERE patient_id = 7;

-- plan
--   unit     patient_id, at most 5 rows each; add-remove
--   groups   1
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM read_parquet('/data/visits.parquet') WHERE "patient_id" IS NOT NULL AND ("patient_id" = 7)),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
