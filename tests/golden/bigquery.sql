-- BigQuery's clause: its options are the arguments of a question, and plain DuckDB sees none of it.

-- # The loss in the clause
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) COUNT(*) AS n FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Unit, delta and groups
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 30, delta = 0.001, max_groups_contributed = 3, privacy_unit_column = patient_id) note, COUNT(*) AS n FROM visits GROUP BY note;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     note: chosen
--   choice   groups by their people, at most 3 for a person, add-remove; epsilon 15, delta 0.001; one of 3 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 1/3; epsilon 15
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 3),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # The clause beside arguments
-- loss: delta 1/1000
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 3, privacy_unit_column = patient_id) city, COUNT(*) AS n FROM patients GROUP BY city;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 3, delta 0.001
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; epsilon 1.5, delta 0.001; one of 7 people is shown with 95 %
--   by       (city): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 2/3; epsilon 1.5
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 3, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "city" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Rows a person contributes
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_rows_contributed = 3) ward, SUM(cost) AS cost FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 3 rows, and as a person in at most 3 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      sum of cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 3000; Laplace, scale 3000; epsilon 1
--   value 1  SUM(cost) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 3145728 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A bound for each row
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) SUM(weight, contribution_bounds_per_row => (0, 50)) AS weight FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of weight in [0, 50]; one integer is 1/17592186044416; moves by L1 250; Laplace, scale 250; epsilon 1
--   value 1  SUM(weight) = 1/17592186044416 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "weight" BETWEEN '0.0'::DOUBLE AND '50.0'::DOUBLE THEN TRY_CAST("weight" * '16777216.0'::DOUBLE AS INTEGER) WHEN "weight" < '0.0'::DOUBLE THEN 0 WHEN "weight" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A minimum number of people
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 30, delta = 0.001, min_privacy_units_per_group = 5) city, COUNT(*) AS n FROM patients GROUP BY city;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; never below 5 people; epsilon 15, delta 0.001; one of 6 people is shown with 95 %
--   by       (city): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1/15; epsilon 15
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "city" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Public groups
-- loss: as the clause says
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, group_selection_strategy = PUBLIC_GROUPS, privacy_unit_column = patient_id) ward, AVG(age) AS age FROM visits GROUP BY ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 4 groups
--   keys     ward: 4 declared: A, B, it's, NULL
--   by       (ward): 4 groups
--   [0]      sum of age in [0, 120], less 60; one integer is 1/1048576, 1 times; moves by L1 300; joint noise of 2, scale 300; epsilon 1
--   [1]      rows with age; one integer is 1/1048576, 60 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(age) = (1/1048576 x [0] + 1/1048576 x [1]) / (1/62914560 x [1]), kept in [0, 120]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "ward" AS k0, CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) - 60 WHEN "age" < 0 THEN -60 WHEN "age" > 120 THEN 60 ELSE 0 END AS v0, CAST(("age" IS NOT NULL) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
