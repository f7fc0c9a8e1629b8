-- Keys that nobody declared are chosen by how many people have them, which takes a delta.

-- # Patients by city
-- loss: epsilon 9, delta 1/1000000
SELECT city, COUNT(*) AS n FROM patients GROUP BY city;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 9, delta 1e-06
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; epsilon 4.5, delta 1e-06; one of 5 people is shown with 95 %
--   by       (city): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 2/9; epsilon 4.5
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 9, delta 1e-06

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "city" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # A group shown only above a number of people
-- loss: epsilon 30, delta 1/1000, min_people 11
SELECT city, AVG(height) AS height FROM patients GROUP BY city;

-- plain
SELECT city, AVG(height) AS height FROM patients GROUP BY city HAVING COUNT(DISTINCT patient_id) >= 12;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; never below 11 people; epsilon 10, delta 0.001; one of 12 people is shown with 95 %
--   by       (city): groups that are chosen
--   [0]      sum of height in [50, 250], less 150; one integer is 1/8796093022208, 1 times; moves by L1 100; joint noise of 2, scale 5; epsilon 20
--   [1]      rows with height; one integer is 1/1048576, 838860800 times; moves by L1 1; joint noise of 2, scale 1/20; epsilon 20
--   value 1  AVG(height) = (1/8796093022208 x [0] + about 1.705302566e-13 x [1]) / (1/879609302220800 x [1]), kept in [50, 250]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "city" AS k0, CASE WHEN "height" BETWEEN '50.0'::DOUBLE AND '250.0'::DOUBLE THEN TRY_CAST(("height" - '150.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER) WHEN "height" < '50.0'::DOUBLE THEN -838860800 WHEN "height" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("height" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city", CASE WHEN TRY_CAST("height" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("height" AS DOUBLE) END AS "height" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0), coalesce(m1, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Notes, one of which is NULL
-- loss: epsilon 30, delta 1/1000
SELECT note, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY note;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     note: chosen
--   choice   groups by their people, at most 5 for a person, add-remove; epsilon 20, delta 0.001; one of 4 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 1/2; epsilon 10
--   [1]      people; told with the groups, if at least 4, or 0.6000 of those one below; Laplace, scale 1/4
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  COUNT(DISTINCT patient_id) = [1]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 5),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0), chosen.people FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # A declared key beside one that is not
-- loss: epsilon 60, delta 1/1000
SELECT sex, city, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex, city;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 60, delta 0.001
--   rows     where NOT sex IS NULL
--   rows       all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     sex: 2 declared: f, m
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; epsilon 30, delta 0.001; one of 2 people is shown with 95 %
--   by       (sex, city): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1/30; epsilon 30
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 60, delta 0.001

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["f", "m"]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "sex" AS k0, "city" AS k1, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city" FROM "frame patients") WHERE "patient_id" IS NOT NULL AND (NOT ("sex" IS NULL))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, k1, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0, k1),
groups AS (SELECT owner, k0, k1 FROM (SELECT owner, d.k0 AS k0, d.k1 AS k1, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '') || '|' || coalesce(CAST(d.k1 AS VARCHAR), '')), d.k0, d.k1) AS place FROM (SELECT DISTINCT owner, k0, k1 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0) WHERE place <= 1),
chosen AS (SELECT k0, k1, count(*) AS people FROM groups GROUP BY k0, k1)
SELECT chosen.k0, chosen.k1, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0 AND chosen.k1 IS NOT DISTINCT FROM totals.k1;


-- # Few groups for each person
-- loss: epsilon 30, delta 1/1000, max_groups 3
SELECT note, SUM(cost) AS cost FROM visits GROUP BY note;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     note: chosen
--   choice   groups by their people, at most 3 for a person, add-remove; epsilon 15, delta 0.001; one of 3 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      sum of cost in [0, 1000]; one integer is 1/1099511627776; moves by L1 5000; Laplace, scale 1000/3; epsilon 15
--   value 1  SUM(cost) = 1/1099511627776 x [0]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0, CASE WHEN "cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "cost" < '0.0'::DOUBLE THEN 0 WHEN "cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 3),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # The curator's least number of people
-- loss: epsilon 10, delta 1/1000
SELECT answer, COUNT(*) AS n, AVG(score) AS score FROM surveys GROUP BY answer;

-- plain
SELECT answer, COUNT(*) AS n, AVG(score) AS score FROM surveys GROUP BY answer HAVING COUNT(*) >= 12;

-- plan
--   table    surveys: person; add-remove; a change moves 1 vector; epsilon 10, delta 0.001
--   rows     all of surveys
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     answer: 4 declared: yes, no, perhaps, never
--   choice   groups by their people, at most 1 for a person, add-remove; never below 10 people; epsilon 3.33334, delta 0.001; one of 13 people is shown with 95 %
--   by       (answer): groups that are chosen
--   [0]      rows; one integer is 1/1048576, 5 times; moves by L1 1; joint noise of 3, scale 3/20; epsilon 6.66667
--   [1]      sum of score in [0, 10], less 5; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 3, scale 3/4; epsilon 6.66667
--   [2]      rows with score; one integer is 1/1048576, 5 times; moves by L1 1; joint noise of 3, scale 3/20; epsilon 6.66667
--   value 1  COUNT(*) = 1/5242880 x [0]
--   value 2  AVG(score) = (1/1048576 x [1] + 1/1048576 x [2]) / (1/5242880 x [2]), kept in [0, 10]
--   cost     epsilon 10, delta 0.001

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["yes", "no", "perhaps", "never"]'::VARCHAR[]) AS value),
contributions AS NOT MATERIALIZED (SELECT "answer" AS k0, CASE WHEN "score" BETWEEN 0 AND 10 THEN TRY_CAST("score" AS INTEGER) - 5 WHEN "score" < 0 THEN -5 WHEN "score" > 10 THEN 5 ELSE 0 END AS v1, CAST(("score" IS NOT NULL) AS INTEGER) AS v2, "person" AS owner FROM (SELECT TRY_CAST("person" AS BIGINT) AS "person", CASE WHEN strlen(TRY_CAST("answer" AS VARCHAR)) <= 65536 THEN TRY_CAST("answer" AS VARCHAR) COLLATE "C" END AS "answer", TRY_CAST("score" AS BIGINT) AS "score" FROM "frame surveys") WHERE "person" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d JOIN keys0 ON keys0.value IS NOT DISTINCT FROM d.k0) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # A total shown only above a number of people
-- loss: epsilon 10, delta 1/1000
SELECT COUNT(*) AS n, SUM(score) AS score FROM surveys;

-- plan
--   table    surveys: person; add-remove; a change moves 1 vector; epsilon 10, delta 0.001
--   rows     all of surveys
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   choice   groups by their people, at most 1 for a person, add-remove; never below 10 people; epsilon 3.33334, delta 0.001; one of 13 people is shown with 95 %
--   [0]      rows; one integer is 1/1048576, 5 times; moves by L1 1; joint noise of 2, scale 3/20; epsilon 6.66667
--   [1]      sum of score in [0, 10], less 5; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 2, scale 3/4; epsilon 6.66667
--   value 1  COUNT(*) = 1/5242880 x [0]
--   value 2  SUM(score) = 1/1048576 x [0] + 1/1048576 x [1]
--   cost     epsilon 10, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "score" BETWEEN 0 AND 10 THEN TRY_CAST("score" AS INTEGER) WHEN "score" < 0 THEN 0 WHEN "score" > 10 THEN 10 ELSE 0 END AS v1, "person" AS owner FROM (SELECT TRY_CAST("person" AS BIGINT) AS "person", TRY_CAST("score" AS BIGINT) AS "score" FROM "frame surveys") WHERE "person" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) + CAST(sum(w) AS HUGEINT) * -5 AS m1 FROM contributions JOIN weights USING (owner)),
chosen AS (SELECT count(DISTINCT owner) AS people FROM contributions)
SELECT chosen.people, coalesce(m0, 0), coalesce(m1, 0) FROM chosen LEFT JOIN totals ON TRUE;


-- # Drugs of a join
-- loss: epsilon 40, delta 1/1000
SELECT r.drug, COUNT(*) AS n FROM prescriptions r JOIN patients p ON r.patient_id = p.patient_id GROUP BY r.drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 40, delta 0.001
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 40, delta 0.001
--   rows     inner join, within each owner, on r.patient_id = p.patient_id
--   rows       all of prescriptions as r
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     r.drug: chosen
--   choice   groups by their people, at most 4 for a person, add-remove; epsilon 20, delta 0.001; one of 3 people is shown with 95 %
--   by       (r.drug): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 1/5; epsilon 20
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 40, delta 0.001

-- engine
WITH contributions AS MATERIALIZED (SELECT "r.drug" AS k0, owner FROM (SELECT l.owner AS owner, "r.drug" FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '')), r."p.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("r.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 4),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Medians of chosen groups
-- loss: epsilon 30, delta 1/1000
SELECT drug, MEDIAN(pieces) AS pieces FROM prescriptions GROUP BY drug;

-- plan
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of prescriptions
--   bound    a person counts for at most 4 rows, and as a person in at most 4 groups
--   keys     drug: chosen
--   choice   groups by their people, at most 4 for a person, add-remove; epsilon 10, delta 0.001; one of 5 people is shown with 95 %
--   by       (drug): groups that are chosen
--   [0]      quantile 1/2 of pieces, 31 marks from 0 by 1; ranks move by 2 rows; permute-and-flip; epsilon 17.5
--   [1]      low end of the interval of quantile 1/2 of pieces, 31 marks from 0 by 1; ranks move by 2 rows; permute-and-flip; epsilon 1.25
--   [2]      high end of the interval of quantile 1/2 of pieces, 31 marks from 0 by 1; ranks move by 2 rows; permute-and-flip; epsilon 1.25
--   value 1  MEDIAN(pieces) = [0] from [1] to [2]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "drug" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 4),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people FROM chosen;

WITH contributions AS NOT MATERIALIZED (SELECT "drug" AS k0, CASE WHEN CAST("pieces" AS DOUBLE) BETWEEN '0.0'::DOUBLE AND '30.0'::DOUBLE THEN TRY_CAST(round((CAST("pieces" AS DOUBLE) - '0.0'::DOUBLE) / '1.0'::DOUBLE) AS INTEGER) WHEN CAST("pieces" AS DOUBLE) < '0.0'::DOUBLE THEN 0 WHEN CAST("pieces" AS DOUBLE) <= 'inf'::DOUBLE THEN 30 ELSE NULL END AS cell, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", TRY_CAST("pieces" AS BIGINT) AS "pieces" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, cell, sum(w) AS m0 FROM contributions JOIN weights USING (owner) WHERE cell IS NOT NULL GROUP BY k0, cell)
SELECT totals.k0, cell, m0 FROM totals;


-- # Chosen groups under zCDP
-- loss: rho 50, delta 1/1000
SELECT city, SUM(height) AS height FROM patients GROUP BY city;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; rho 50, delta 0.001
--   rows     all of patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   keys     city: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; rho 25, delta 0.001; one of 2 people is shown with 95 %
--   by       (city): groups that are chosen
--   [0]      sum of height in [50, 250]; one integer is 1/4398046511104; moves by L2 250; Gaussian, sigma sqrt(1250); rho 25
--   value 1  SUM(height) = 1/4398046511104 x [0]
--   cost     rho 50, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "city" AS k0, CASE WHEN "height" BETWEEN '50.0'::DOUBLE AND '250.0'::DOUBLE THEN TRY_CAST("height" * '4194304.0'::DOUBLE AS INTEGER) WHEN "height" < '50.0'::DOUBLE THEN 209715200 WHEN "height" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("city" AS VARCHAR)) <= 65536 THEN TRY_CAST("city" AS VARCHAR) COLLATE "C" END AS "city", CASE WHEN TRY_CAST("height" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("height" AS DOUBLE) END AS "height" FROM "frame patients") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 1),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Chosen groups of rows that are people
-- loss: epsilon 10, delta 1/1000
SELECT note, COUNT(*) AS n FROM people GROUP BY note;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 10, delta 0.001
--   rows     all of people
--   bound    every row counts 1
--   keys     note: chosen
--   choice   groups by their people, at most 1 for a person, add-remove; epsilon 10, delta 0.001; one of 2 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      rows; told with the groups, if at least 2, or 0.0010 of those one below; Laplace, scale 1/10
--   value 1  COUNT(*) = [0]
--   cost     epsilon 10, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0 FROM (SELECT CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM "frame people")),
totals AS (SELECT k0, count(*) AS m0 FROM contributions GROUP BY k0),
chosen AS (SELECT d.k0 AS k0, count(*) AS people FROM contributions AS d GROUP BY d.k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # Chosen groups where one patient is replaced
-- loss: epsilon 60, delta 1/1000
SELECT note, COUNT(*) AS n FROM stays GROUP BY note;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 60, delta 0.001
--   rows     all of stays
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     note: chosen
--   choice   groups by their people, at most 5 for a person, replace-one; epsilon 30, delta 0.001; one of 5 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 10; Laplace, scale 1/3; epsilon 30
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 60, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 5),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;


-- # People with a value, in chosen groups
-- loss: epsilon 30, delta 1/1000
SELECT note, COUNT(DISTINCT patient_id) FILTER (WHERE paid) AS people FROM visits GROUP BY note;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     note: chosen
--   choice   groups by their people, at most 5 for a person, add-remove; epsilon 15, delta 0.001; one of 4 people is shown with 95 %
--   by       (note): groups that are chosen
--   [0]      people with CASE WHEN paid THEN 1 ELSE NULL END; one integer is 1/1048576; moves by L1 5; Laplace, scale 1/3; epsilon 15
--   value 1  COUNT(DISTINCT patient_id) FILTER (WHERE paid) = 1/1048576 x [0]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT "note" AS k0, coalesce(CAST(CASE WHEN "paid" THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("note" AS VARCHAR)) <= 65536 THEN TRY_CAST("note" AS VARCHAR) COLLATE "C" END AS "note", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner, d.k0 FROM (SELECT DISTINCT owner, k0 FROM contributions WHERE v0) AS d),
shares0 AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT k0, sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 5),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN people0 ON chosen.k0 IS NOT DISTINCT FROM people0.k0;


-- # A total of people with a value, above a number of people
-- loss: epsilon 10, delta 1/1000, min_people 5
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE age > 60) AS people FROM visits;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 10, delta 0.001
--   rows     all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   choice   groups by their people, at most 1 for a person, add-remove; never below 5 people; epsilon 5, delta 0.001; one of 7 people is shown with 95 %
--   [0]      people with CASE WHEN age > 60 THEN 1 ELSE NULL END; one integer is 1/1048576; moves by L1 1; Laplace, scale 1/5; epsilon 5
--   value 1  COUNT(DISTINCT patient_id) FILTER (WHERE age > 60) = 1/1048576 x [0]
--   cost     epsilon 10, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT coalesce(CAST(CASE WHEN ("age" > 60) THEN 1 ELSE NULL END AS DOUBLE) <= 'inf'::DOUBLE, FALSE) AS v0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("age" AS BIGINT) AS "age" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL),
pairs0 AS (SELECT owner FROM (SELECT DISTINCT owner FROM contributions WHERE v0) AS d),
shares0 AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM pairs0 GROUP BY owner),
people0 AS (SELECT sum(w) AS m0 FROM pairs0 JOIN shares0 USING (owner)),
chosen AS (SELECT count(DISTINCT owner) AS people FROM contributions)
SELECT chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN people0 ON TRUE;


-- # Chosen bins of a column without a range
-- loss: epsilon 30, delta 1/1000
SELECT FLOOR(weight / 20) AS bin, COUNT(*) AS n FROM visits WHERE weight IS NOT NULL GROUP BY bin;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 30, delta 0.001
--   rows     where NOT weight IS NULL
--   rows       all of visits
--   bound    a person counts for at most 5 rows, and as a person in at most 5 groups
--   keys     FLOOR(weight / 20): chosen
--   choice   groups by their people, at most 5 for a person, add-remove; epsilon 15, delta 0.001; one of 4 people is shown with 95 %
--   by       (FLOOR(weight / 20)): groups that are chosen
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 1/3; epsilon 15
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 30, delta 0.001

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT TRY_CAST(floor(("weight" / nullif('20.0'::DOUBLE, 0))) AS BIGINT) AS k0, "patient_id" AS owner FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("weight" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("weight" AS DOUBLE) END AS "weight" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL AND (NOT ("weight" IS NULL))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0),
groups AS (SELECT owner, k0 FROM (SELECT owner, d.k0 AS k0, row_number() OVER (PARTITION BY owner ORDER BY md5(CAST(owner AS VARCHAR) || '|' || coalesce(CAST(d.k0 AS VARCHAR), '')), d.k0) AS place FROM (SELECT DISTINCT owner, k0 FROM contributions) AS d) WHERE place <= 5),
chosen AS (SELECT k0, count(*) AS people FROM groups GROUP BY k0)
SELECT chosen.k0, chosen.people, coalesce(m0, 0) FROM chosen LEFT JOIN totals ON chosen.k0 IS NOT DISTINCT FROM totals.k0;
