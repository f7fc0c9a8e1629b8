-- Quantiles, minima and maxima: marks of a public range, chosen by their ranks.

-- # The median age
-- loss: epsilon 1
SELECT MEDIAN(age) AS age FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(age) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # Quartiles at once
-- loss: epsilon 1
SELECT QUANTILE_CONT(cost, [0.25, 0.5, 0.75]) AS quartiles FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 1/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.292481
--   [1]      low end of the interval of quantile 1/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.020752
--   [2]      high end of the interval of quantile 1/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.020752
--   [3]      quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.291504
--   [4]      low end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.020752
--   [5]      high end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.020752
--   [6]      quantile 3/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.291504
--   [7]      low end of the interval of quantile 3/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.020752
--   [8]      high end of the interval of quantile 3/4 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 15/4 rows; permute-and-flip; epsilon 0.020752
--   value 1  QUANTILE_CONT(cost, [0.25, 0.5, 0.75]) = [0] from [1] to [2], [3] from [4] to [5], [6] from [7] to [8]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0000000000001'::DOUBLE THEN TRY_CAST(round(("cost" - '0.0'::DOUBLE) / '0.015259021896696423'::DOUBLE) AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # One quantile by ward
-- loss: epsilon 1
SELECT ward, QUANTILE_CONT(cost, 0.9) AS dear FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      quantile 9/10 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 9/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 9/10 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 9/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 9/10 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 9/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  QUANTILE_CONT(cost, 0.9) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0000000000001'::DOUBLE THEN TRY_CAST(round(("cost" - '0.0'::DOUBLE) / '0.015259021896696423'::DOUBLE) AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT keys0.place * 1, cell, m0 FROM keys0 JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0;


-- # A discrete quantile
-- loss: epsilon 1
SELECT QUANTILE_DISC(age, 0.5) AS age FROM people;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of people
--   bound    every row counts 1
--   [0]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  QUANTILE_DISC(age, 0.5) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age" FROM "frame people")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # WITHIN GROUP
-- loss: epsilon 1
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) AS middle FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  QUANTILE_CONT(cost, 0.5) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0000000000001'::DOUBLE THEN TRY_CAST(round(("cost" - '0.0'::DOUBLE) / '0.015259021896696423'::DOUBLE) AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The least and the largest
-- loss: epsilon 1
SELECT MIN(cost) AS least, MAX(cost) AS most FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 0 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5 rows; permute-and-flip; epsilon 0.467042
--   [1]      high end of the interval of quantile 0 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5 rows; permute-and-flip; epsilon 0.0332032
--   [2]      quantile 1 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5 rows; permute-and-flip; epsilon 0.466553
--   [3]      low end of the interval of quantile 1 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5 rows; permute-and-flip; epsilon 0.0332032
--   value 1  MIN(cost) = [0] from the end of the range to [1]
--   value 2  MAX(cost) = [2] from [3] to the end of the range
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0000000000001'::DOUBLE THEN TRY_CAST(round(("cost" - '0.0'::DOUBLE) / '0.015259021896696423'::DOUBLE) AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # Equal parts, as BigQuery writes them
-- loss: epsilon 1
SELECT APPROX_QUANTILES(age, 4) AS quartiles FROM visits;

-- plain
SELECT QUANTILE_CONT(age, [0, 0.25, 0.5, 0.75, 1]) AS quartiles FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 0 of age, 121 marks from 0 by 1; ranks move by 5 rows; permute-and-flip; epsilon 0.180665
--   [1]      high end of the interval of quantile 0 of age, 121 marks from 0 by 1; ranks move by 5 rows; permute-and-flip; epsilon 0.0126954
--   [2]      quantile 1/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.179444
--   [3]      low end of the interval of quantile 1/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.0126954
--   [4]      high end of the interval of quantile 1/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.0126954
--   [5]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.179444
--   [6]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0126954
--   [7]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0126954
--   [8]      quantile 3/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.179444
--   [9]      low end of the interval of quantile 3/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.0126954
--   [10]      high end of the interval of quantile 3/4 of age, 121 marks from 0 by 1; ranks move by 15/4 rows; permute-and-flip; epsilon 0.0126954
--   [11]      quantile 1 of age, 121 marks from 0 by 1; ranks move by 5 rows; permute-and-flip; epsilon 0.179444
--   [12]      low end of the interval of quantile 1 of age, 121 marks from 0 by 1; ranks move by 5 rows; permute-and-flip; epsilon 0.0126954
--   value 1  APPROX_QUANTILES(age, 4) = [0] from the end of the range to [1], [2] from [3] to [4], [5] from [6] to [7], [8] from [9] to [10], [11] from [12] to the end of the range
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A median beside a count
-- loss: epsilon 1
SELECT level, COUNT(*) AS n, MEDIAN(age) AS age FROM visits GROUP BY level;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     level: 3 declared: 1, 2, 3
--   by       (level): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 20480/1913; epsilon 0.467042
--   [1]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.466553
--   [2]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0332032
--   [3]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0332032
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  MEDIAN(age) = [1] from [2] to [3]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;

WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[1, 2, 3]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "level" AS k0, CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT keys0.place * 1, cell, m0 FROM keys0 JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0;


-- # A median under zCDP
-- loss: rho 1/8
SELECT MEDIAN(cost) AS cost FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; exponential; epsilon 0.935415
--   [1]      low end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; exponential; epsilon 0.25
--   [2]      high end of the interval of quantile 1/2 of cost, 65536 marks from 0 by about 0.0152590219; ranks move by 5/2 rows; exponential; epsilon 0.25
--   value 1  MEDIAN(cost) = [0] from [1] to [2]
--   cost     rho 0.125

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0000000000001'::DOUBLE THEN TRY_CAST(round(("cost" - '0.0'::DOUBLE) / '0.015259021896696423'::DOUBLE) AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 65535 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A median of replaced people
-- loss: epsilon 1
SELECT MEDIAN(age) AS age FROM voters;

-- plan
--   table    voters: each row is a person; replace-one; a change moves 2 vectors; epsilon 1
--   rows     all of voters
--   bound    every row counts 1
--   [0]      quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of age, 121 marks from 0 by 1; ranks move by 1 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(age) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST("age" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST("age" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("age" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("age" AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age" FROM "frame voters")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A median of some rows
-- loss: epsilon 1
SELECT MEDIAN(age) FILTER (WHERE paid) AS age FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      quantile 1/2 of CASE WHEN paid THEN age ELSE NULL END, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of CASE WHEN paid THEN age ELSE NULL END, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of CASE WHEN paid THEN age ELSE NULL END, 121 marks from 0 by 1; ranks move by 5/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(age) FILTER (WHERE paid) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN CAST(CASE WHEN "paid" THEN "age" ELSE NULL END AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round((CAST(CASE WHEN "paid" THEN "age" ELSE NULL END AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST(CASE WHEN "paid" THEN "age" ELSE NULL END AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST(CASE WHEN "paid" THEN "age" ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;
