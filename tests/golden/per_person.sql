-- One row per person first: the outer question then counts for each person once.

-- # Visits per patient, on average
-- loss: epsilon 1
SELECT AVG(n) AS mean FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.n = select.n
--   rows       columns select.patient_id = person.key0, select.n = person.count0
--   rows         one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(*) in [0, 5]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.n in [0, 5], less 2; one integer is 1/1048576, 1 times; moves by L1 3; joint noise of 2, scale 3; epsilon 1
--   [1]      rows with t.n; one integer is 1/1048576, 3 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.n) = (1/1048576 x [0] + 1/1572864 x [1]) / (1/3145728 x [1]), kept in [0, 5]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.n" BETWEEN '0.0'::DOUBLE AND '5.0'::DOUBLE THEN TRY_CAST(("t.n" - '2.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER) WHEN "t.n" < '0.0'::DOUBLE THEN -2 WHEN "t.n" <= 'inf'::DOUBLE THEN 3 ELSE 0 END AS v0, CAST(coalesce("t.n" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.n" AS "t.n" FROM (SELECT owner AS owner, "person.count0" AS "select.n" FROM (SELECT owner AS owner, CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # How many patients came how often
-- loss: epsilon 1
SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t GROUP BY n;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.n = select.n
--   rows       columns select.patient_id = person.key0, select.n = person.count0
--   rows         one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(*) in [0, 5]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     t.n: 6 enumerated: 0, 1, 2, 3, 4, 5
--   by       (t.n): 6 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(6)) AS place, unnest('[0, 1, 2, 3, 4, 5]'::BIGINT[]) AS value),
contributions AS MATERIALIZED (SELECT "t.n" AS k0, owner FROM (SELECT owner AS owner, "select.n" AS "t.n" FROM (SELECT owner AS owner, "person.count0" AS "select.n" FROM (SELECT owner AS owner, CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # What a patient costs
-- loss: epsilon 1
SELECT AVG(total) AS mean, SUM(total) AS all_of_them FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.total = select.total
--   rows       columns select.patient_id = person.key0, select.total = person.sum0
--   rows         one row per owner and person.key0 = visits.patient_id; person.sum0 = SUM(visits.cost) in [0, 5000]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.total in [0, 5000], less 2500; one integer is 1/274877906944, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   [1]      rows with t.total; one integer is 1/1048576, 655360000 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.total) = (1/274877906944 x [0] + 1/274877906944 x [1]) / (1/687194767360000 x [1]), kept in [0, 5000]
--   value 2  SUM(t.total) = 1/274877906944 x [0] + 1/274877906944 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.total" BETWEEN '0.0'::DOUBLE AND '5000.0'::DOUBLE THEN TRY_CAST(("t.total" - '2500.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER) WHEN "t.total" < '0.0'::DOUBLE THEN -655360000 WHEN "t.total" <= 'inf'::DOUBLE THEN 655360000 ELSE 0 END AS v0, CAST(coalesce("t.total" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.total" AS "t.total" FROM (SELECT owner AS owner, "person.sum0" AS "select.total" FROM (SELECT owner AS owner, CASE WHEN (count(*) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE))) > 0 THEN greatest(least(CAST(sum(CAST(greatest(least("visits.cost", '1000.0'::DOUBLE), '0.0'::DOUBLE) * '1073741824.0'::DOUBLE AS BIGINT)) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) / '1073741824.0'::DOUBLE, '5000.0'::DOUBLE), '0.0'::DOUBLE) END AS "person.sum0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # The mean of each patient's mean
-- loss: epsilon 1
-- tolerance: 1e-6
SELECT AVG(mean) AS mean FROM (SELECT patient_id, AVG(cost) AS mean FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.mean = select.mean
--   rows       columns select.patient_id = person.key0, select.mean = person.avg0
--   rows         one row per owner and person.key0 = visits.patient_id; person.avg0 = AVG(visits.cost) in [0, 1000]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.mean in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 500; joint noise of 2, scale 500; epsilon 1
--   [1]      rows with t.mean; one integer is 1/1048576, 1048576000 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.mean) = (1/2199023255552 x [0] + 1/2199023255552 x [1]) / (1/1099511627776000 x [1]), kept in [0, 1000]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.mean" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("t.mean" - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER) WHEN "t.mean" < '0.0'::DOUBLE THEN -1048576000 WHEN "t.mean" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, CAST(coalesce("t.mean" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.mean" AS "t.mean" FROM (SELECT owner AS owner, "person.avg0" AS "select.mean" FROM (SELECT owner AS owner, CASE WHEN (count(*) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE))) > 0 THEN greatest(least((CAST(sum(CAST(greatest(least("visits.cost", '1000.0'::DOUBLE), '0.0'::DOUBLE) * '1073741824.0'::DOUBLE AS BIGINT)) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) / '1073741824.0'::DOUBLE) / (count(*) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE))), '1000.0'::DOUBLE), '0.0'::DOUBLE) END AS "person.avg0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # The dearest visit of each patient
-- loss: epsilon 1
SELECT AVG(most) AS most, AVG(least) AS least FROM (SELECT patient_id, MAX(cost) AS most, MIN(cost) AS least FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.most = select.most, t.least = select.least
--   rows       columns select.patient_id = person.key0, select.most = person.max0, select.least = person.min1
--   rows         one row per owner and person.key0 = visits.patient_id; person.max0 = MAX(visits.cost) in [0, 1000]; person.min1 = MIN(visits.cost) in [0, 1000]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.most in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 500; joint noise of 4, scale 500; epsilon 1
--   [1]      rows with t.most; one integer is 1/1048576, 1048576000 times; moves by L1 1; joint noise of 4, scale 1; epsilon 1
--   [2]      sum of t.least in [0, 1000], less 500; one integer is 1/2199023255552, 1 times; moves by L1 500; joint noise of 4, scale 500; epsilon 1
--   [3]      rows with t.least; one integer is 1/1048576, 1048576000 times; moves by L1 1; joint noise of 4, scale 1; epsilon 1
--   value 1  AVG(t.most) = (1/2199023255552 x [0] + 1/2199023255552 x [1]) / (1/1099511627776000 x [1]), kept in [0, 1000]
--   value 2  AVG(t.least) = (1/2199023255552 x [2] + 1/2199023255552 x [3]) / (1/1099511627776000 x [3]), kept in [0, 1000]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.most" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("t.most" - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER) WHEN "t.most" < '0.0'::DOUBLE THEN -1048576000 WHEN "t.most" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, CAST(coalesce("t.most" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, CASE WHEN "t.least" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST(("t.least" - '500.0'::DOUBLE) * '2097152.0'::DOUBLE AS INTEGER) WHEN "t.least" < '0.0'::DOUBLE THEN -1048576000 WHEN "t.least" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v2, CAST(coalesce("t.least" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v3, owner FROM (SELECT owner AS owner, "select.most" AS "t.most", "select.least" AS "t.least" FROM (SELECT owner AS owner, "person.max0" AS "select.most", "person.min1" AS "select.least" FROM (SELECT owner AS owner, CAST(max("visits.cost") FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) + 0.0 AS "person.max0", CAST(min("visits.cost") FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) + 0.0 AS "person.min1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2, sum(w * v3) AS m3 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0), coalesce(m3, 0) FROM totals;


-- # Patients who came at least twice
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 2) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id
--   rows       columns select.patient_id = person.key0
--   rows         where person.count0 >= 2
--   rows           one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(*) in [0, 5]
--   rows             all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner, CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id") WHERE ("person.count0" >= '2.0'::DOUBLE))))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Different wards per patient
-- loss: epsilon 1
SELECT AVG(wards) AS mean FROM (SELECT patient_id, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.wards = select.wards
--   rows       columns select.patient_id = person.key0, select.wards = person.count0
--   rows         one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(DISTINCT visits.ward) in [0, 5]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.wards in [0, 5], less 2; one integer is 1/1048576, 1 times; moves by L1 3; joint noise of 2, scale 3; epsilon 1
--   [1]      rows with t.wards; one integer is 1/1048576, 3 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.wards) = (1/1048576 x [0] + 1/1572864 x [1]) / (1/3145728 x [1]), kept in [0, 5]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.wards" BETWEEN '0.0'::DOUBLE AND '5.0'::DOUBLE THEN TRY_CAST(("t.wards" - '2.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER) WHEN "t.wards" < '0.0'::DOUBLE THEN -2 WHEN "t.wards" <= 'inf'::DOUBLE THEN 3 ELSE 0 END AS v0, CAST(coalesce("t.wards" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.wards" AS "t.wards" FROM (SELECT owner AS owner, "person.count0" AS "select.wards" FROM (SELECT owner AS owner, CAST(least(count(DISTINCT "visits.ward") FILTER (WHERE ("visits.ward" IS NOT NULL)), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "ward" AS "visits.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # One row per patient and ward
-- loss: epsilon 1
SELECT ward, AVG(n) AS mean FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY patient_id, ward) AS t GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.ward = select.ward, t.n = select.n
--   rows       columns select.patient_id = person.key0, select.ward = person.key1, select.n = person.count0
--   rows         one row per owner and person.key0 = visits.patient_id, person.key1 = visits.ward; person.count0 = COUNT(*) in [0, 5]
--   rows           all of visits as visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     t.ward: 4 declared: A, B, it's, NULL
--   by       (t.ward): 4 groups
--   [0]      sum of t.n in [0, 5], less 2; one integer is 1/1048576, 1 times; moves by L1 15; joint noise of 2, scale 15; epsilon 1
--   [1]      rows with t.n; one integer is 1/1048576, 3 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(t.n) = (1/1048576 x [0] + 1/1572864 x [1]) / (1/3145728 x [1]), kept in [0, 5]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "t.ward" AS k0, CASE WHEN "t.n" BETWEEN '0.0'::DOUBLE AND '5.0'::DOUBLE THEN TRY_CAST(("t.n" - '2.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER) WHEN "t.n" < '0.0'::DOUBLE THEN -2 WHEN "t.n" <= 'inf'::DOUBLE THEN 3 ELSE 0 END AS v0, CAST(coalesce("t.n" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.ward" AS "t.ward", "select.n" AS "t.n" FROM (SELECT owner AS owner, "person.key1" AS "select.ward", "person.count0" AS "select.n" FROM (SELECT owner AS owner, "visits.ward" AS "person.key1", CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "ward" AS "visits.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id", "visits.ward")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A condition inside the count of a person
-- loss: epsilon 1
SELECT SUM(paid) AS paid FROM (SELECT patient_id, COUNT(*) FILTER (WHERE paid) AS paid FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.paid = select.paid
--   rows       columns select.patient_id = person.key0, select.paid = person.count0
--   rows         one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(CASE WHEN visits.paid THEN 1 ELSE NULL END) in [0, 5]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of t.paid in [0, 5]; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  SUM(t.paid) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.paid" BETWEEN '0.0'::DOUBLE AND '5.0'::DOUBLE THEN TRY_CAST("t.paid" * '1.0'::DOUBLE AS INTEGER) WHEN "t.paid" < '0.0'::DOUBLE THEN 0 WHEN "t.paid" <= 'inf'::DOUBLE THEN 5 ELSE 0 END AS v0, owner FROM (SELECT owner AS owner, "select.paid" AS "t.paid" FROM (SELECT owner AS owner, "person.count0" AS "select.paid" FROM (SELECT owner AS owner, CAST(least(count(*) FILTER (WHERE coalesce(CAST(CASE WHEN "visits.paid" THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE)), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "paid" AS "visits.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Summaries of a person joined with the person
-- loss: epsilon 1
SELECT p.sex, AVG(t.n) AS mean FROM patients p JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t ON p.patient_id = t.patient_id GROUP BY p.sex;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on p.patient_id = t.patient_id
--   rows       all of patients as p
--   rows       columns t.patient_id = select.patient_id, t.n = select.n
--   rows         columns select.patient_id = person.key0, select.n = person.count0
--   rows           one row per owner and person.key0 = visits.patient_id; person.count0 = COUNT(*) in [0, 5]
--   rows             all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      sum of t.n in [0, 5], less 2; one integer is 1/1048576, 1 times; moves by L1 3; joint noise of 2, scale 3; epsilon 1
--   [1]      rows with t.n; one integer is 1/1048576, 3 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(t.n) = (1/1048576 x [0] + 1/1572864 x [1]) / (1/3145728 x [1]), kept in [0, 5]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CASE WHEN "t.n" BETWEEN '0.0'::DOUBLE AND '5.0'::DOUBLE THEN TRY_CAST(("t.n" - '2.0'::DOUBLE) * '1.0'::DOUBLE AS INTEGER) WHEN "t.n" < '0.0'::DOUBLE THEN -2 WHEN "t.n" <= 'inf'::DOUBLE THEN 3 ELSE 0 END AS v0, CAST(coalesce("t.n" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "p.sex", "t.n" FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS l JOIN (SELECT owner AS owner, "select.patient_id" AS "t.patient_id", "select.n" AS "t.n" FROM (SELECT owner AS owner, "person.key0" AS "select.patient_id", "person.count0" AS "select.n" FROM (SELECT owner AS owner, "visits.patient_id" AS "person.key0", CAST(least(count(*), 5) AS DOUBLE) AS "person.count0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id"))) AS r ON l.owner = r.owner AND ("p.patient_id" = "t.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # The spread of what patients cost
-- loss: epsilon 1
-- tolerance: 1e-6
SELECT STDDEV_SAMP(total) AS spread FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) AS t;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.total = select.total
--   rows       columns select.patient_id = person.key0, select.total = person.sum0
--   rows         one row per owner and person.key0 = visits.patient_id; person.sum0 = SUM(visits.cost) in [0, 5000]
--   rows           all of visits as visits
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows with t.total; one integer is 1/1048576, 51200000000 times; moves by L1 1; joint noise of 3, scale 1; epsilon 1
--   [1]      sum of t.total in [0, 5000], less 2500; one integer is 1/274877906944, 78 times; moves by L1 2500; joint noise of 3, scale 390625/156; epsilon 1
--   [2]      sum of (CLAMP(t.total, 0, 5000) - 2500) * (CLAMP(t.total, 0, 5000) - 2500) in [0, 6250000], less 3125000; one integer is 1/268435456, 64 times; moves by L1 3125000; joint noise of 3, scale 3125000; epsilon 1
--   value 1  STDDEV_SAMP(t.total) = from n = 1/53687091200000000 x [0]; sx = 1/21440476741632 x [1]; sxx = 1/17179869184 x [0] + 1/17179869184 x [2], x less 2500
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CAST(coalesce("t.total" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v0, CASE WHEN "t.total" BETWEEN '0.0'::DOUBLE AND '5000.0'::DOUBLE THEN TRY_CAST(("t.total" - '2500.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER) WHEN "t.total" < '0.0'::DOUBLE THEN -655360000 WHEN "t.total" <= 'inf'::DOUBLE THEN 655360000 ELSE 0 END AS v1, (CAST((greatest(least(((CASE WHEN "t.total" <= 'inf'::DOUBLE THEN greatest(least("t.total", '5000.0'::DOUBLE), '0.0'::DOUBLE) END - '2500.0'::DOUBLE) * (CASE WHEN "t.total" <= 'inf'::DOUBLE THEN greatest(least("t.total", '5000.0'::DOUBLE), '0.0'::DOUBLE) END - '2500.0'::DOUBLE)), '6250000.0'::DOUBLE), '0.0'::DOUBLE) - '3125000.0'::DOUBLE) * '256.0'::DOUBLE AS INTEGER)) * CAST(coalesce(((CASE WHEN "t.total" <= 'inf'::DOUBLE THEN greatest(least("t.total", '5000.0'::DOUBLE), '0.0'::DOUBLE) END - '2500.0'::DOUBLE) * (CASE WHEN "t.total" <= 'inf'::DOUBLE THEN greatest(least("t.total", '5000.0'::DOUBLE), '0.0'::DOUBLE) END - '2500.0'::DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, owner FROM (SELECT owner AS owner, "select.total" AS "t.total" FROM (SELECT owner AS owner, "person.sum0" AS "select.total" FROM (SELECT owner AS owner, CASE WHEN (count(*) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE))) > 0 THEN greatest(least(CAST(sum(CAST(greatest(least("visits.cost", '1000.0'::DOUBLE), '0.0'::DOUBLE) * '1073741824.0'::DOUBLE AS BIGINT)) FILTER (WHERE coalesce("visits.cost" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) / '1073741824.0'::DOUBLE, '5000.0'::DOUBLE), '0.0'::DOUBLE) END AS "person.sum0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) GROUP BY owner, "visits.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM totals;


-- # The median number of pieces per patient
-- loss: epsilon 1
SELECT MEDIAN(n) AS n FROM (SELECT patient_id, SUM(pieces) AS n FROM prescriptions GROUP BY patient_id) AS t;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.patient_id = select.patient_id, t.n = select.n
--   rows       columns select.patient_id = person.key0, select.n = person.sum0
--   rows         one row per owner and person.key0 = prescriptions.patient_id; person.sum0 = SUM(prescriptions.pieces) in [0, 120]
--   rows           all of prescriptions as prescriptions
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      quantile 1/2 of t.n, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.875
--   [1]      low end of the interval of quantile 1/2 of t.n, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.0625
--   [2]      high end of the interval of quantile 1/2 of t.n, 121 marks from 0 by 1; ranks move by 1/2 rows; permute-and-flip; epsilon 0.0625
--   value 1  MEDIAN(t.n) = [0] from [1] to [2]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.n" BETWEEN '0.0'::DOUBLE AND '120.0'::DOUBLE THEN TRY_CAST(round(("t.n" - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN "t.n" < '0.0'::DOUBLE THEN 0 WHEN "t.n" <= 'inf'::DOUBLE THEN 120 ELSE NULL END AS cell, owner FROM (SELECT owner AS owner, "select.n" AS "t.n" FROM (SELECT owner AS owner, "person.sum0" AS "select.n" FROM (SELECT owner AS owner, CASE WHEN (count(*) FILTER (WHERE ("prescriptions.pieces" IS NOT NULL))) > 0 THEN greatest(least(CAST(sum(CAST(greatest(least(CAST("prescriptions.pieces" AS DOUBLE), '30.0'::DOUBLE), '0.0'::DOUBLE) * '1.0'::DOUBLE AS BIGINT)) FILTER (WHERE ("prescriptions.pieces" IS NOT NULL)) AS DOUBLE) / '1.0'::DOUBLE, '120.0'::DOUBLE), '0.0'::DOUBLE) END AS "person.sum0" FROM (SELECT "patient_id" AS owner, "patient_id" AS "prescriptions.patient_id", "pieces" AS "prescriptions.pieces" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("pieces" AS BIGINT) AS "pieces" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) GROUP BY owner, "prescriptions.patient_id")))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY cell)
SELECT 0, cell, m0 FROM totals;
