-- Histograms, distribution functions, modes and top-k: cells that public facts list.

-- # Counts in written bins
-- loss: epsilon 1
SELECT HISTOGRAM(age, [20, 40, 60, 80]) AS ages FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      cells of CASE WHEN age <= 20 THEN 0 WHEN age <= 40 THEN 1 WHEN age <= 60 THEN 2 WHEN age <= 80 THEN 3 ELSE CASE WHEN age IS NULL THEN NULL ELSE 4 END END, 5 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  HISTOGRAM(age, [20, 40, 60, 80]) = 1/1048576 x [0] for 20, 40, 60, 80, above
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[0, 1, 2, 3, 4]'::BIGINT[], TRY_CAST(CAST(CASE WHEN ("age" <= 20) THEN '0.0'::DOUBLE WHEN ("age" <= 40) THEN '1.0'::DOUBLE WHEN ("age" <= 60) THEN '2.0'::DOUBLE WHEN ("age" <= 80) THEN '3.0'::DOUBLE ELSE CAST(CASE WHEN ("age" IS NULL) THEN NULL ELSE 4 END AS DOUBLE) END AS DOUBLE) AS BIGINT)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # Counts of declared values
-- loss: epsilon 1
SELECT HISTOGRAM(level) AS levels FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      cells of level, 3 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  HISTOGRAM(level) = 1/1048576 x [0] for 1, 2, 3
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[1, 2, 3]'::BIGINT[], TRY_CAST("level" AS BIGINT)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A distribution function
-- loss: epsilon 1
SELECT CDF(age, [20, 40, 60, 80]) AS ages FROM visits;

-- plain
SELECT MAP {20: COUNT(*) FILTER (WHERE age <= 20), 40: COUNT(*) FILTER (WHERE age <= 40), 60: COUNT(*) FILTER (WHERE age <= 60), 80: COUNT(*) FILTER (WHERE age <= 80), 1000: COUNT(age)} AS ages FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      cells of CASE WHEN age <= 20 THEN 0 WHEN age <= 40 THEN 1 WHEN age <= 60 THEN 2 WHEN age <= 80 THEN 3 ELSE CASE WHEN age IS NULL THEN NULL ELSE 4 END END, 5 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  CDF(age, [20, 40, 60, 80]) = running sums of 1/1048576 x [0] for 20, 40, 60, 80, above
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[0, 1, 2, 3, 4]'::BIGINT[], TRY_CAST(CAST(CASE WHEN ("age" <= 20) THEN '0.0'::DOUBLE WHEN ("age" <= 40) THEN '1.0'::DOUBLE WHEN ("age" <= 60) THEN '2.0'::DOUBLE WHEN ("age" <= 80) THEN '3.0'::DOUBLE ELSE CAST(CASE WHEN ("age" IS NULL) THEN NULL ELSE 4 END AS DOUBLE) END AS DOUBLE) AS BIGINT)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A histogram by ward
-- loss: epsilon 1
SELECT ward, HISTOGRAM(cost, [250, 500, 750]) AS costs FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      cells of CASE WHEN cost <= 250 THEN 0 WHEN cost <= 500 THEN 1 WHEN cost <= 750 THEN 2 ELSE CASE WHEN cost IS NULL THEN NULL ELSE 3 END END, 4 values; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  HISTOGRAM(cost, [250, 500, 750]) = 1/1048576 x [0] for 250, 500, 750, above
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, list_position('[0, 1, 2, 3]'::BIGINT[], TRY_CAST(CAST(CASE WHEN ("cost" <= '250.0'::DOUBLE) THEN '0.0'::DOUBLE WHEN ("cost" <= '500.0'::DOUBLE) THEN '1.0'::DOUBLE WHEN ("cost" <= '750.0'::DOUBLE) THEN '2.0'::DOUBLE ELSE CAST(CASE WHEN ("cost" IS NULL) THEN NULL ELSE 3 END AS DOUBLE) END AS DOUBLE) AS BIGINT)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT keys0.place * 1, cell, m0 FROM keys0 JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0;


-- # The most frequent ward
-- loss: epsilon 1
SELECT MODE(ward) AS ward FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      the heaviest of ward, 3 values; weights move by 5242880 units; permute-and-flip; epsilon 1
--   value 1  MODE(ward) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('["A", "B", "it''s"]'::VARCHAR[], TRY_CAST("ward" AS VARCHAR)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The two most frequent wards
-- loss: epsilon 1
SELECT APPROX_TOP_K(ward, 2) AS wards FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      the 2 heaviest, one after the other, of ward, 3 values; weights move by 5242880 units; permute-and-flip for each pick; epsilon 0.5
--   value 1  APPROX_TOP_K(ward, 2) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('["A", "B", "it''s"]'::VARCHAR[], TRY_CAST("ward" AS VARCHAR)) - 1 AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The most frequent drug of a public list
-- loss: epsilon 1
SELECT MODE(d.drug) AS drug FROM prescriptions r JOIN drugs d ON r.drug = d.drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on r.drug = d.drug
--   rows       all of prescriptions as r
--   rows       all of drugs as d
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      the heaviest of d.drug, 2 values; weights move by 4194304 units; permute-and-flip; epsilon 1
--   value 1  MODE(d.drug) = [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT list_position('["aspirin", "codeine"]'::VARCHAR[], TRY_CAST("d.drug" AS VARCHAR)) - 1 AS cell, owner FROM (SELECT l.owner AS owner, "d.drug" FROM (SELECT "patient_id" AS owner, "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT "drug" AS "d.drug" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame drugs")) AS r ON ("r.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The most frequent number
-- loss: rho 1/8
SELECT MODE(level) AS level FROM people;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of people
--   bound    every row counts 1
--   [0]      the heaviest of level, 3 values; weights move by 1 units; exponential; epsilon 1
--   value 1  MODE(level) = [0]
--   cost     rho 0.125

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[1, 2, 3]'::BIGINT[], TRY_CAST("level" AS BIGINT)) - 1 AS cell FROM (SELECT TRY_CAST("level" AS BIGINT) AS "level" FROM "frame people")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A histogram with Gaussian noise
-- loss: rho 1/8
SELECT HISTOGRAM(age, [30, 60]) AS ages FROM people;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; rho 0.125
--   rows     all of people
--   bound    every row counts 1
--   [0]      cells of CASE WHEN age <= 30 THEN 0 WHEN age <= 60 THEN 1 ELSE CASE WHEN age IS NULL THEN NULL ELSE 2 END END, 3 values; one integer is 1; moves by L2 1; Gaussian, sigma 2; rho 0.125
--   value 1  HISTOGRAM(age, [30, 60]) = 1 x [0] for 30, 60, above
--   cost     rho 0.125

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[0, 1, 2]'::BIGINT[], TRY_CAST(CAST(CASE WHEN ("age" <= 30) THEN '0.0'::DOUBLE WHEN ("age" <= 60) THEN '1.0'::DOUBLE ELSE CAST(CASE WHEN ("age" IS NULL) THEN NULL ELSE 2 END AS DOUBLE) END AS DOUBLE) AS BIGINT)) - 1 AS cell FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age" FROM "frame people")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # A distribution function of many cells, by a tree
-- loss: epsilon 1
SELECT CDF(age) AS ages FROM people;

-- plain
SELECT MAP_FROM_ENTRIES(LIST((a, n) ORDER BY a)) AS ages FROM (SELECT a, (SELECT COUNT(*) FROM people WHERE age BETWEEN 0 AND a) AS n FROM RANGE(121) t(a));

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of people
--   bound    every row counts 1
--   [0]      tree (8, 17) over age, 121 values; Laplace, scale 2; epsilon 1
--   value 1  CDF(age) = running sums of 1 x [0] for 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120]'::BIGINT[], TRY_CAST("age" AS BIGINT)) - 1 AS cell FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age" FROM "frame people")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;


-- # The same with Gaussian noise, by the square root of summing
-- loss: rho 1/2
SELECT CDF(age) AS ages FROM people;

-- plain
SELECT MAP_FROM_ENTRIES(LIST((a, n) ORDER BY a)) AS ages FROM (SELECT a, (SELECT COUNT(*) FROM people WHERE age BETWEEN 0 AND a) AS n FROM RANGE(121) t(a));

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; rho 0.5
--   rows     all of people
--   bound    every row counts 1
--   [0]      square root of summing over age, 121 values; Gaussian, variance 1099511627776; rho 0.5
--   value 1  CDF(age) = running sums of 1 x [0] for 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120
--   cost     rho 0.5

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT list_position('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120]'::BIGINT[], TRY_CAST("age" AS BIGINT)) - 1 AS cell FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age" FROM "frame people")),
totals AS (SELECT cell, count(*) AS m0 FROM contributions WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;
