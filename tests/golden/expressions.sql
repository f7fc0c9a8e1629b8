-- Expressions: ranges pass through them by interval arithmetic, and each gives a value or NULL for any row.

-- # Bins of ten years
-- loss: epsilon 1
SELECT FLOOR(age / 10) AS decade, COUNT(*) AS n FROM visits GROUP BY FLOOR(age / 10);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     FLOOR(age / 10): 13 enumerated: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...
--   by       (FLOOR(age / 10)): 13 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(13)) AS place, unnest('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT floor((CAST("age" AS DOUBLE) / nullif('10.0'::DOUBLE, 0))) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Whole division makes bins too
-- loss: epsilon 1
SELECT age // 20 AS bin, SUM(cost) AS cost FROM visits GROUP BY bin;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     age // 20: 7 enumerated: 0, 1, 2, 3, 4, 5, 6
--   by       (age // 20): 7 groups
--   [0]      sum of cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 5000; epsilon 1
--   value 1  SUM(cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(7)) AS place, unnest('[0, 1, 2, 3, 4, 5, 6]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT trunc(CAST("age" AS DOUBLE) / nullif('20.0'::DOUBLE, 0)) AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Buckets of equal width
-- loss: epsilon 1
SELECT WIDTH_BUCKET(cost, 0, 1000, 4) AS bucket, COUNT(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY bucket;

-- plain
SELECT CAST(FLOOR(cost / 250) AS INTEGER) + 1 AS bucket, COUNT(*) AS n FROM visits WHERE cost IS NOT NULL GROUP BY bucket;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where NOT cost IS NULL
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     WIDTH_BUCKET(cost, 0, 1000, 4): 5 enumerated: 1, 2, 3, 4, 5
--   by       (WIDTH_BUCKET(cost, 0, 1000, 4)): 5 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(5)) AS place, unnest('[1, 2, 3, 4, 5]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN "cost" < '0.0'::DOUBLE THEN '0.0'::DOUBLE WHEN "cost" < '1000.0'::DOUBLE THEN least(floor(("cost" - '0.0'::DOUBLE) * '4.0'::DOUBLE / ('1000.0'::DOUBLE - '0.0'::DOUBLE)), '4.0'::DOUBLE - 1) + 1 WHEN "cost" <= 'inf'::DOUBLE THEN '4.0'::DOUBLE + 1 END AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (NOT ("cost" IS NULL))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # CASE as a key
-- loss: epsilon 1
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, COUNT(*) AS n FROM visits GROUP BY stage;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END: 3 enumerated: child, adult, old
--   by       (CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["child", "adult", "old"]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT CASE WHEN ("age" < 18) THEN 'child' WHEN ("age" < 65) THEN 'adult' ELSE 'old' END AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A condition as a key
-- loss: epsilon 1
SELECT age >= 65 AS old, AVG(cost) AS cost FROM visits GROUP BY old;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     age >= 65: 3 enumerated: TRUE, FALSE, NULL
--   by       (age >= 65): 3 groups
--   [0]      sum of cost in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   [1]      rows with cost; one integer is 1/1048576, 1048576000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(cost) = (1/2199023255552 x [0] + 1/2199023255552 x [1]) / (1/1099511627776000 x [1]), kept in [0, 1000]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('[True, False, NULL]'::BOOLEAN[]) AS value),
contributions AS NOT MATERIALIZED (SELECT ("age" >= 65) AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("cost" - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN -1048576000 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, CAST(coalesce("cost" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # COALESCE gives missing keys a name
-- loss: epsilon 1
SELECT COALESCE(ward, 'none') AS ward, COUNT(*) AS n FROM visits GROUP BY COALESCE(ward, 'none');

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     COALESCE(ward, 'none'): 4 enumerated: A, B, it's, none
--   by       (COALESCE(ward, 'none')): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", "none"]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT coalesce("ward", 'none') AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A function of a declared key
-- loss: epsilon 1
SELECT level % 2 AS odd, COUNT(*) AS n FROM visits GROUP BY odd;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 2 groups
--   keys     level % 2: 2 enumerated: 1, 0
--   by       (level % 2): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('[1, 0]'::BIGINT[]) AS value),
contributions AS NOT MATERIALIZED (SELECT (CAST("level" AS DOUBLE) % nullif('2.0'::DOUBLE, 0)) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # The product of two ranges
-- loss: epsilon 1
SELECT SUM(cost * level) AS weighted FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of cost * level in [0, 3000]; one integer is 1/274877906944; moves by L1 15000; Laplace, scale 15000; epsilon 1
--   value 1  SUM(cost * level) = 1/274877906944 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(("cost" * CAST("level" AS DOUBLE)), '3000.0'::DOUBLE), '0.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER)) * CAST(coalesce(("cost" * CAST("level" AS DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A square has no negative values
-- loss: epsilon 1
SELECT AVG((age - 50) * (age - 50)) AS spread FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of (age - 50) * (age - 50) in [-3500, 4900], less 700; one integer is 1/1048576, 1 times; moves by L1 21000; joint noise of 2, scale 21000; epsilon 1
--   [1]      rows with (age - 50) * (age - 50); one integer is 1/1048576, 4200 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG((age - 50) * (age - 50)) = (1/1048576 x [0] + 1/6291456 x [1]) / (1/4404019200 x [1]), kept in [-3500, 4900]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(((CAST("age" AS DOUBLE) - '50.0'::DOUBLE) * (CAST("age" AS DOUBLE) - '50.0'::DOUBLE)), '4900.0'::DOUBLE), '-3500.0'::DOUBLE) - '700.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(((CAST("age" AS DOUBLE) - '50.0'::DOUBLE) * (CAST("age" AS DOUBLE) - '50.0'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(((CAST("age" AS DOUBLE) - '50.0'::DOUBLE) * (CAST("age" AS DOUBLE) - '50.0'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # LEAST and GREATEST bound a column
-- loss: epsilon 1
SELECT AVG(LEAST(GREATEST(weight, 10), 40)) AS mean FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of LEAST(GREATEST(weight, 10), 40) in [10, 40], less 25; one integer is 1/70368744177664, 1 times; moves by L1 75; joint noise of 2, scale 75; epsilon 1
--   [1]      rows with LEAST(GREATEST(weight, 10), 40); one integer is 1/1048576, 1006632960 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(LEAST(GREATEST(weight, 10), 40)) = (1/70368744177664 x [0] + about 2.368475786e-14 x [1]) / (1/1055531162664960 x [1]), kept in [10, 40]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(least(greatest("weight", '10.0'::DOUBLE), '40.0'::DOUBLE), '40.0'::DOUBLE), '10.0'::DOUBLE) - '25.0'::DOUBLE) * '67108864.0'::DOUBLE AS INTEGER)) * CAST(coalesce(least(greatest("weight", '10.0'::DOUBLE), '40.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(least(greatest("weight", '10.0'::DOUBLE), '40.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # CLAMP bounds it in one word
-- loss: epsilon 1
SELECT SUM(CLAMP(weight, 10, 40)) AS total FROM visits;

-- plain
SELECT SUM(LEAST(GREATEST(weight, 10), 40)) AS total FROM visits WHERE weight IS NOT NULL;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of CLAMP(weight, 10, 40) in [10, 40]; one integer is 1/17592186044416; moves by L1 200; Laplace, scale 200; epsilon 1
--   value 1  SUM(CLAMP(weight, 10, 40)) = 1/17592186044416 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(CASE WHEN "weight" <= 'inf'::DOUBLE THEN greatest(least("weight", '40.0'::DOUBLE), '10.0'::DOUBLE) END, '40.0'::DOUBLE), '10.0'::DOUBLE) * '16777216.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CASE WHEN "weight" <= 'inf'::DOUBLE THEN greatest(least("weight", '40.0'::DOUBLE), '10.0'::DOUBLE) END <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Roots and logarithms
-- loss: epsilon 1
-- tolerance: 1e-5
SELECT SUM(SQRT(cost)) AS roots, SUM(LN(cost + 1)) AS logarithms FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of SQRT(cost) in [0, about 31.6227766], less about 15.81138828; one integer is 1/35184372088832, 16 times; moves by L1 about 79.05694172; joint noise of 3, scale about 79.05694172; epsilon 1
--   [1]      rows; one integer is 1/1048576, 8488674480 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   [2]      sum of LN(cost + 1) in [0, about 6.908754779], less about 3.454377383; one integer is 1/140737488355328, 18 times; moves by L1 about 17.27188699; joint noise of 3, scale about 17.56820927; epsilon 1
--   value 1  SUM(SQRT(cost)) = 1/562949953421312 x [0] + about 1.776356833e-15 x [1]
--   value 2  SUM(LN(cost + 1)) = about 3.880877983e-16 x [1] + 1/2533274790395904 x [2]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(sqrt(nullif(greatest("cost", '-5e-324'::DOUBLE), '-5e-324'::DOUBLE)), '31.622776601683793'::DOUBLE), '0.0'::DOUBLE) * '33554432.0'::DOUBLE AS INTEGER)) * CAST(coalesce(sqrt(nullif(greatest("cost", '-5e-324'::DOUBLE), '-5e-324'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, (CAST(greatest(least(ln(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)), '6.908754779315245'::DOUBLE), '0.0'::DOUBLE) * '134217728.0'::DOUBLE AS INTEGER)) * CAST(coalesce(ln(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) + CAST(sum(w) AS HUGEINT) * -530542153 AS m0, sum(w) AS m1, sum(w * v2) + CAST(sum(w) AS HUGEINT) * -463638684 AS m2 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM totals;


-- # Powers
-- loss: epsilon 1
-- tolerance: 1e-5
SELECT AVG(POWER(level, 2)) AS squares FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of POWER(level, 2) in [about 1, about 9], less about 5; one integer is 1/140737488355328, 1 times; moves by L1 about 20.00000004; joint noise of 2, scale about 20.00000004; epsilon 1
--   [1]      rows with POWER(level, 2); one integer is 1/1048576, 536870913 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(POWER(level, 2)) = (1/140737488355328 x [0] + about 8.88178418e-15 x [1]) / (1/562949954469888 x [1]), kept in [about 1, about 9]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(pow(CAST("level" AS DOUBLE), '2.0'::DOUBLE), '9.000000000000032'::DOUBLE), '0.9999999999999964'::DOUBLE) - '5.000000000000014'::DOUBLE) * '134217728.0'::DOUBLE AS INTEGER)) * CAST(coalesce(pow(CAST("level" AS DOUBLE), '2.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(pow(CAST("level" AS DOUBLE), '2.0'::DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Signs and whole parts
-- loss: epsilon 1
SELECT SUM(SIGN(age - 40)) AS signs, SUM(TRUNC(cost / 4)) AS quarters FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of SIGN(age - 40) in [-1, 1]; one integer is 1/1048576, 250 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      sum of TRUNC(cost / 4) in [0, 250]; one integer is 1/1048576, 1 times; moves by L1 1250; joint noise of 2, scale 1250; epsilon 1
--   value 1  SUM(SIGN(age - 40)) = 1/262144000 x [0]
--   value 2  SUM(TRUNC(cost / 4)) = 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(CAST(sign((CAST("age" AS DOUBLE) - '40.0'::DOUBLE)) AS DOUBLE), '1.0'::DOUBLE), '-1.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(sign((CAST("age" AS DOUBLE) - '40.0'::DOUBLE)) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, (CAST(greatest(least(trunc(("cost" / nullif('4.0'::DOUBLE, 0))), '250.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(trunc(("cost" / nullif('4.0'::DOUBLE, 0))) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Exponentials and other logarithms
-- loss: epsilon 1
-- tolerance: 1e-5
SELECT AVG(EXP(level)) AS e, AVG(LOG10(cost + 1)) AS ten, AVG(LOG2(cost + 1)) AS two FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of EXP(level) in [about 2.718281828, about 20.08553692], less about 11.40190938; one integer is 1/35184372088832, 44 times; moves by L1 about 43.41813788; joint noise of 6, scale about 43.6426775; epsilon 1
--   [1]      rows with EXP(level); one integer is 1/1048576, 12886766240 times; moves by L1 5; joint noise of 6, scale 5; epsilon 1
--   [2]      sum of LOG10(cost + 1) in [0, about 3.000434077], less about 1.500217039; one integer is 1/281474976710656, 32 times; moves by L1 about 7.501085196; joint noise of 6, scale about 7.501085196; epsilon 1
--   [3]      rows with LOG10(cost + 1); one integer is 1/1048576, 12886766240 times; moves by L1 5; joint noise of 6, scale 5; epsilon 1
--   [4]      sum of LOG2(cost + 1) in [0, about 9.967226259], less about 4.983613129; one integer is 1/70368744177664, 38 times; moves by L1 209027885/8388608; joint noise of 6, scale about 25.26681329; epsilon 1
--   [5]      rows with LOG2(cost + 1); one integer is 1/1048576, 12886766240 times; moves by L1 5; joint noise of 6, scale 5; epsilon 1
--   value 1  AVG(EXP(level)) = (1/1548112371908608 x [0] + about 8.437887308e-16 x [1]) / (1/13512753796874240 x [1]), kept in [about 2.718281828, about 20.08553692]
--   value 2  AVG(LOG10(cost + 1)) = (1/9007199254740992 x [2] + about 1.110223024e-16 x [3]) / (1/13512753796874240 x [3]), kept in [0, about 3.000434077]
--   value 3  AVG(LOG2(cost + 1)) = (1/2674012278751232 x [4] + about 3.688081056e-16 x [5]) / (1/13512753796874240 x [5]), kept in [0, about 9.967226259]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST((greatest(least(exp(CAST("level" AS DOUBLE)), '20.085536923187743'::DOUBLE), '2.7182818284590353'::DOUBLE) - '11.401909375823388'::DOUBLE) * '33554432.0'::DOUBLE AS INTEGER)) * CAST(coalesce(exp(CAST("level" AS DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(exp(CAST("level" AS DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, (CAST((greatest(least(log10(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)), '3.00043407747933'::DOUBLE), '0.0'::DOUBLE) - '1.500217038739665'::DOUBLE) * '268435456.0'::DOUBLE AS INTEGER)) * CAST(coalesce(log10(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, CAST(coalesce(log10(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v3, (CAST((greatest(least(log2(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)), '9.967226258836028'::DOUBLE), '0.0'::DOUBLE) - '4.983613129418014'::DOUBLE) * '67108864.0'::DOUBLE AS INTEGER)) * CAST(coalesce(log2(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v4, CAST(coalesce(log2(nullif(greatest(("cost" + '1.0'::DOUBLE), 0), 0)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v5, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2, sum(w * v3) AS m3, sum(w * v4) AS m4, sum(w * v5) AS m5 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0), coalesce(m3, 0), coalesce(m4, 0), coalesce(m5, 0) FROM totals;


-- # Numbers that are none
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE NOT ISNAN(cost) AND ISFINITE(cost) AND NOT ISINF(weight);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where NOT ISNAN(cost) AND ISFINITE(cost) AND NOT ISINF(weight)
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (((NOT isnan("cost")) AND isfinite("cost")) AND (NOT isinf("weight")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: ends and places
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE ENDS_WITH(note, 'y') OR STRPOS(note, 's') = 3 OR RIGHT(note, 1) = '7' OR SUBSTRING(note, 1, 2) = 'A';

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where ENDS_WITH(note, 'y') OR STRPOS(note, 's') = 3 OR RIGHT(note, 1) = '7' OR SUBSTRING(note, 1, 2) = 'A'
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (((ends_with("note", 'y') OR (CAST(strpos("note", 's') AS DOUBLE) = '3.0'::DOUBLE)) OR (right(CASE WHEN strlen("note") <= 16384 THEN "note" END, 1) = '7')) OR (substring(CASE WHEN strlen("note") <= 16384 THEN "note" END, 1, 2) = 'A'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: trimmed and replaced
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE TRIM(note) = 'A' OR LTRIM(note, 'x') = '-ray' OR RTRIM(note, 't') = 'res' OR REPLACE(note, '7', '8') = '8' OR CONCAT(note, level) = '21';

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where TRIM(note) = 'A' OR LTRIM(note, 'x') = '-ray' OR RTRIM(note, 't') = 'res' OR REPLACE(note, '7', '8') = '8' OR CONCAT(note, level) = '21'
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (((((trim(CASE WHEN strlen("note") <= 16384 THEN "note" END) = 'A') OR (ltrim(CASE WHEN strlen("note") <= 16384 THEN "note" END, 'x') = '-ray')) OR (rtrim(CASE WHEN strlen("note") <= 16384 THEN "note" END, 't') = 'res')) OR (replace(left(CASE WHEN strlen("note") <= 16384 THEN "note" END, 4000), '7', '8') = '8')) OR (concat(left(TRY_CAST("note" AS VARCHAR), 2000), left(TRY_CAST("level" AS VARCHAR), 2000)) = '21'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: a whole match
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE REGEXP_FULL_MATCH(note, '[a-z]+');

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where REGEXP_FULL_MATCH(note, '[a-z]+')
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND regexp_full_match("note", '[a-z]+')),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Casts to text, dates, times and conditions
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE CAST(level AS TEXT) = '1' OR CAST("at" AS DATE) > DATE '2026-01-03' OR CAST(day AS TIMESTAMP) < TIMESTAMP '2026-01-01 12:00:00' AND CAST(level - 2 AS BOOLEAN);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where CAST(level AS TEXT) = '1' OR CAST(at AS DATE) > '2026-01-03' OR CAST(day AS TIMESTAMP) < '2026-01-01 12:00:00' AND CAST(level - 2 AS BOOLEAN)
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN TRY_CAST("day" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("day" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "day", CASE WHEN TRY_CAST("at" AS TIMESTAMP) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN greatest(least(TRY_CAST("at" AS TIMESTAMP), TIMESTAMP '9999-12-31 23:59:59.999999'), TIMESTAMP '0001-01-01 00:00:00') END AS "at" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (((TRY_CAST("level" AS VARCHAR) = '1') OR (nullif(nullif(greatest(least(TRY_CAST("at" AS DATE), DATE '10000-01-01'), DATE '0001-12-31 (BC)'), DATE '10000-01-01'), DATE '0001-12-31 (BC)') > DATE '2026-01-03')) OR ((nullif(nullif(greatest(least(TRY_CAST("day" AS TIMESTAMP), TIMESTAMP '10000-01-01'), TIMESTAMP '0001-12-31 (BC) 23:59:59.999999'), TIMESTAMP '10000-01-01'), TIMESTAMP '0001-12-31 (BC) 23:59:59.999999') < TIMESTAMP '2026-01-01 12:00:00') AND TRY_CAST((CAST("level" AS DOUBLE) - '2.0'::DOUBLE) AS BOOLEAN)))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: length, parts and joins
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE LENGTH(note) = 1 OR LEFT(note, 1) = 'x' OR note || ward = 'AA';

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where LENGTH(note) = 1 OR LEFT(note, 1) = 'x' OR note || ward = 'AA'
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (((CAST(length("note") AS DOUBLE) = '1.0'::DOUBLE) OR (left(CASE WHEN strlen("note") <= 16384 THEN "note" END, 1) = 'x')) OR ((left(TRY_CAST("note" AS VARCHAR), 2000) || left(TRY_CAST("ward" AS VARCHAR), 2000)) = 'AA'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: patterns
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE note ILIKE 'R%' OR STARTS_WITH(note, 'x') OR CONTAINS(note, 'ray');

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where note ILIKE 'R%' OR STARTS_WITH(note, 'x') OR CONTAINS(note, 'ray')
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND ((("note" ILIKE 'R%') OR starts_with("note", 'x')) OR contains("note", 'ray'))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Text: regular expressions
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(note, '^[0-9]+$');

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where REGEXP_MATCHES(note, '^[0-9]+$')
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND regexp_matches("note", '^[0-9]+$')),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A cast that fails is NULL
-- loss: epsilon 1
SELECT COUNT(TRY_CAST(note AS INTEGER)) AS n FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows with CAST(note AS INTEGER); one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(CAST(note AS INTEGER)) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CAST(coalesce(round_even(TRY_CAST("note" AS DOUBLE), 0) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # IS DISTINCT FROM tells NULLs apart
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE ward IS DISTINCT FROM 'A';

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where ward IS DISTINCT FROM 'A'
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND ("ward" IS DISTINCT FROM 'A')),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A condition that is NULL is not met
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits WHERE NOT (age > 40);

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where NOT age > 40
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (NOT ("age" > 40))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # FILTER
-- loss: epsilon 1
SELECT COUNT(*) FILTER (WHERE paid) AS paid, SUM(cost) FILTER (WHERE level = 1) AS first, AVG(age) FILTER (WHERE ward = 'A') AS age FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows with CASE WHEN paid THEN 1 ELSE NULL END; one integer is 1/1048576, 524288000 times; moves by L1 5; joint noise of 4, scale 5; epsilon 1
--   [1]      sum of CASE WHEN level = 1 THEN cost ELSE NULL END in [0, 1000]; one integer is 1/549755813888, 1 times; moves by L1 5000; joint noise of 4, scale 5000; epsilon 1
--   [2]      sum of CASE WHEN ward = 'A' THEN age ELSE NULL END in [0, 120], less 60; one integer is 1/1048576, 8738133 times; moves by L1 300; joint noise of 4, scale 2621440000/8738133; epsilon 1
--   [3]      rows with CASE WHEN ward = 'A' THEN age ELSE NULL END; one integer is 1/1048576, 524288000 times; moves by L1 5; joint noise of 4, scale 5; epsilon 1
--   value 1  COUNT(*) FILTER (WHERE paid) = 1/549755813888000 x [0]
--   value 2  SUM(cost) FILTER (WHERE level = 1) = 1/549755813888 x [1]
--   value 3  AVG(age) FILTER (WHERE ward = 'A') = (1/9162596548608 x [2] + about 1.091393642e-13 x [3]) / (1/549755813888000 x [3]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CAST(coalesce(CAST(CASE WHEN "paid" THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, (CAST(greatest(least(CAST(CASE WHEN ("level" = 1) THEN "cost" ELSE NULL END AS DOUBLE), '1000.0'::DOUBLE), '0.0'::DOUBLE) * '524288.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(CASE WHEN ("level" = 1) THEN "cost" ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, (CAST((greatest(least(CAST(CASE WHEN ("ward" = 'A') THEN "age" ELSE NULL END AS DOUBLE), '120.0'::DOUBLE), '0.0'::DOUBLE) - '60.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(CASE WHEN ("ward" = 'A') THEN "age" ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, CAST(coalesce(CAST(CASE WHEN ("ward" = 'A') THEN "age" ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v3, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", TRY_CAST("level" AS BIGINT) AS "level", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2, sum(w * v3) AS m3 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0), coalesce(m3, 0) FROM totals;


-- # COUNT_IF
-- loss: epsilon 1
SELECT COUNT_IF(age > 50) AS old FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows with CASE WHEN age > 50 THEN 1 ELSE NULL END; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) FILTER (WHERE age > 50) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CAST(coalesce(CAST(CASE WHEN ("age" > 50) THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # IF and NULLIF
-- loss: epsilon 1
SELECT SUM(IF(paid, level, 0)) AS paid, COUNT(NULLIF(level, 1)) AS others FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of CASE WHEN paid THEN level ELSE 0 END in [0, 3]; one integer is 1/1048576, 1 times; moves by L1 15; joint noise of 2, scale 15; epsilon 1
--   [1]      rows with NULLIF(level, 1); one integer is 1/1048576, 3 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  SUM(CASE WHEN paid THEN level ELSE 0 END) = 1/1048576 x [0]
--   value 2  COUNT(NULLIF(level, 1)) = 1/3145728 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT (CAST(greatest(least(CAST(CASE WHEN "paid" THEN "level" ELSE 0 END AS DOUBLE), '3.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER)) * CAST(coalesce(CAST(CASE WHEN "paid" THEN "level" ELSE 0 END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CAST(coalesce(CAST(nullif("level", 1) AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;
