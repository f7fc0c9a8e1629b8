-- JOIN: two protected tables meet only where their owners are equated; a person's joined rows are weighed once.

-- # Visits and the sex of the patient
-- loss: epsilon 1
SELECT p.sex, COUNT(*) AS n FROM visits AS v JOIN patients AS p ON v.patient_id = p.patient_id GROUP BY p.sex;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on v.patient_id = p.patient_id
--   rows       all of visits as v
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, owner FROM (SELECT l.owner AS owner, "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A join by USING
-- loss: epsilon 1
SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits JOIN patients USING (patient_id) WHERE sex = 'f';

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where patients.sex = 'f'
--   rows       inner join, within each owner, on visits.patient_id = patients.patient_id
--   rows         all of visits as visits
--   rows         at most 16 rows of each owner
--   rows           all of patients as patients
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 524288000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      sum of visits.cost in [0, 1000], less 500; one integer is 1/1099511627776, 1 times; moves by L1 2500; joint noise of 2, scale 2500; epsilon 1
--   value 1  COUNT(*) = 1/549755813888000 x [0]
--   value 2  SUM(visits.cost) = 1/1099511627776 x [0] + 1/1099511627776 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "visits.cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("visits.cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "visits.cost" < '0.0'::DOUBLE THEN 0 WHEN "visits.cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v1, owner FROM (SELECT l.owner AS owner, "visits.cost", "patients.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id", "cost" AS "visits.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "patients.patient_id", "sex" AS "patients.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."patients.patient_id" AS "patients.patient_id", r."patients.sex" AS "patients.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "patients.patient_id", "patients.sex" FROM (SELECT r.owner AS owner, r."patients.patient_id" AS "patients.patient_id", r."patients.sex" AS "patients.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."patients.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."patients.sex" AS VARCHAR)), '')), r."patients.patient_id", r."patients.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("visits.patient_id" = "patients.patient_id")) WHERE ("patients.sex" = 'f')),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) + CAST(sum(w) AS HUGEINT) * -524288000 AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A natural join
-- loss: epsilon 1
SELECT AVG(height) AS height FROM visits NATURAL JOIN patients;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on visits.patient_id = patients.patient_id
--   rows       all of visits as visits
--   rows       at most 16 rows of each owner
--   rows         all of patients as patients
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      sum of patients.height in [50, 250], less 150; one integer is 1/8796093022208, 1 times; moves by L1 500; joint noise of 2, scale 500; epsilon 1
--   [1]      rows with patients.height; one integer is 1/1048576, 838860800 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   value 1  AVG(patients.height) = (1/8796093022208 x [0] + about 1.705302566e-13 x [1]) / (1/879609302220800 x [1]), kept in [50, 250]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "patients.height" BETWEEN '50.0'::DOUBLE AND '250.0'::DOUBLE THEN TRY_CAST(("patients.height" - '150.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER) WHEN "patients.height" < '50.0'::DOUBLE THEN -838860800 WHEN "patients.height" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("patients.height" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "patients.height" FROM (SELECT "patient_id" AS owner, "patient_id" AS "visits.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "patients.patient_id", "height" AS "patients.height" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("height" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("height" AS DOUBLE) END AS "height" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."patients.patient_id" AS "patients.patient_id", r."patients.height" AS "patients.height" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "patients.patient_id", "patients.height" FROM (SELECT r.owner AS owner, r."patients.patient_id" AS "patients.patient_id", r."patients.height" AS "patients.height", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."patients.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."patients.height" AS VARCHAR), '')), r."patients.patient_id", r."patients.height") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("visits.patient_id" = "patients.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Tables with a comma, and the owners equated in WHERE
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM visits v, prescriptions r WHERE v.patient_id = r.patient_id AND v.paid;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where v.paid
--   rows       inner join, within each owner, on v.patient_id = r.patient_id
--   rows         at most 1140 rows of each owner
--   rows           all of visits as v
--   rows         at most 912 rows of each owner
--   rows           all of prescriptions as r
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner, "v.paid" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "paid" AS "v.paid" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("paid" AS BOOLEAN) AS "paid" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1140) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.paid" AS "v.paid" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id", "v.paid" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.paid" AS "v.paid", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."v.paid" AS VARCHAR), '')), r."v.patient_id", r."v.paid") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1140) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 912) SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.patient_id" FROM (SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.patient_id" AS VARCHAR), '')), r."r.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 912) AS r ON l.owner = r.owner AND ("v.patient_id" = "r.patient_id")) WHERE "v.paid"),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A further condition between the two tables
-- loss: epsilon 1
SELECT COUNT(*) AS n, AVG(r.dose) AS dose FROM visits v JOIN prescriptions r ON v.patient_id = r.patient_id AND v.cost > r.dose;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on v.patient_id = r.patient_id AND v.cost > r.dose
--   rows       at most 1140 rows of each owner
--   rows         all of visits as v
--   rows       at most 912 rows of each owner
--   rows         all of prescriptions as r
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 838860800 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   [1]      sum of r.dose in [0, 100], less 50; one integer is 1/17592186044416, 1 times; moves by L1 250; joint noise of 3, scale 250; epsilon 1
--   [2]      rows with r.dose; one integer is 1/1048576, 838860800 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/879609302220800 x [0]
--   value 2  AVG(r.dose) = (1/17592186044416 x [1] + 1/17592186044416 x [2]) / (1/879609302220800 x [2]), kept in [0, 100]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "r.dose" BETWEEN '0.0'::DOUBLE AND '100.0'::DOUBLE THEN TRY_CAST(("r.dose" - '50.0'::DOUBLE) * '16777216.0'::DOUBLE AS INTEGER) WHEN "r.dose" < '0.0'::DOUBLE THEN -838860800 WHEN "r.dose" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v1, CAST(coalesce("r.dose" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v2, owner FROM (SELECT l.owner AS owner, "r.dose" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "cost" AS "v.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1140) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.cost" AS "v.cost" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id", "v.cost" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.cost" AS "v.cost", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."v.cost" AS VARCHAR), '')), r."v.patient_id", r."v.cost") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1140) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "dose" AS "r.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 912) SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.patient_id", "r.dose" FROM (SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."r.dose" AS VARCHAR), '')), r."r.patient_id", r."r.dose") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 912) AS r ON l.owner = r.owner AND (("v.patient_id" = "r.patient_id") AND ("v.cost" > "r.dose")))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM totals;


-- # Every patient, also those who never came
-- loss: epsilon 1
SELECT p.sex, COUNT(*) AS n, COUNT(v.patient_id) AS visits FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id GROUP BY p.sex;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 0.5
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     left join, within each owner, on v.patient_id = p.patient_id
--   rows       at most 8 rows of each owner
--   rows         all of patients as p
--   rows       all of visits as v
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      rows; one integer is 1/1048576, 1 times; moves by L1 10; joint noise of 2, scale 10; epsilon 1
--   [1]      rows with v.patient_id; one integer is 1/1048576, 1 times; moves by L1 10; joint noise of 2, scale 10; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  COUNT(v.patient_id) = 1/1048576 x [1]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CAST(("v.patient_id" IS NOT NULL) AS INTEGER) AS v1, owner FROM (SELECT l.owner AS owner, "p.sex", "v.patient_id" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 8) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 8) AS l LEFT JOIN (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Patients without a prescription, by a left join
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients p LEFT JOIN prescriptions r ON p.patient_id = r.patient_id WHERE r.patient_id IS NULL;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     where r.patient_id IS NULL
--   rows       left join, within each owner, on p.patient_id = r.patient_id
--   rows         at most 8 rows of each owner
--   rows           all of patients as p
--   rows         all of prescriptions as r
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 4; Laplace, scale 4; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner, "r.patient_id" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 8) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '')), r."p.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 8) AS l LEFT JOIN (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS r ON l.owner = r.owner AND ("p.patient_id" = "r.patient_id")) WHERE ("r.patient_id" IS NULL)),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A right join is a left join turned round
-- loss: epsilon 1
SELECT COUNT(*) AS n, SUM(v.cost) AS cost FROM visits v RIGHT JOIN patients p USING (patient_id);

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     left join, within each owner, on p.patient_id = v.patient_id
--   rows       at most 8 rows of each owner
--   rows         all of patients as p
--   rows       all of visits as v
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 1048576000 times; moves by L1 5; joint noise of 2, scale 5; epsilon 1
--   [1]      sum of v.cost in [0, 1000]; one integer is 1/1099511627776, 1 times; moves by L1 5000; joint noise of 2, scale 5000; epsilon 1
--   value 1  COUNT(*) = 1/1099511627776000 x [0]
--   value 2  SUM(v.cost) = 1/1099511627776 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "v.cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("v.cost" * '1048576.0'::DOUBLE AS INTEGER) WHEN "v.cost" < '0.0'::DOUBLE THEN 0 WHEN "v.cost" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v1, owner FROM (SELECT l.owner AS owner, "v.cost" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 8) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '')), r."p.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 8) AS l LEFT JOIN (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "cost" AS "v.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS r ON l.owner = r.owner AND ("p.patient_id" = "v.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # A full join keeps both sides
-- loss: epsilon 1
SELECT COUNT(*) AS n, COUNT(r.drug) AS prescribed, COUNT(v.level) AS seen FROM visits v FULL JOIN prescriptions r ON v.patient_id = r.patient_id AND v.level = 1;

-- plan
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     full join, within each owner, on v.patient_id = r.patient_id AND v.level = 1
--   rows       at most 805 rows of each owner
--   rows         all of visits as v
--   rows       at most 644 rows of each owner
--   rows         all of prescriptions as r
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   [1]      rows with r.drug; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   [2]      rows with v.level; one integer is 1/1048576, 1 times; moves by L1 5; joint noise of 3, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   value 2  COUNT(r.drug) = 1/1048576 x [1]
--   value 3  COUNT(v.level) = 1/1048576 x [2]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CAST(("r.drug" IS NOT NULL) AS INTEGER) AS v1, CAST(("v.level" IS NOT NULL) AS INTEGER) AS v2, owner FROM (SELECT coalesce(l.owner, r.owner) AS owner, "v.level", "r.drug" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "level" AS "v.level" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", TRY_CAST("level" AS BIGINT) AS "level" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 805) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.level" AS "v.level" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id", "v.level" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", r."v.level" AS "v.level", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."v.level" AS VARCHAR), '')), r."v.patient_id", r."v.level") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 805) AS l FULL JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "drug" AS "r.drug" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 644) SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.drug" AS "r.drug" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.patient_id", "r.drug" FROM (SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.drug" AS "r.drug", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."r.drug" AS VARCHAR)), '')), r."r.patient_id", r."r.drug") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 644) AS r ON l.owner = r.owner AND (("v.patient_id" = "r.patient_id") AND ("v.level" = 1)))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) AS m1, sum(w * v2) AS m2 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM totals;


-- # Three tables
-- loss: epsilon 1
SELECT p.sex, SUM(r.dose) AS dose FROM visits v JOIN patients p ON v.patient_id = p.patient_id JOIN prescriptions r ON r.patient_id = p.patient_id GROUP BY p.sex;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on r.patient_id = p.patient_id
--   rows       inner join, within each owner, on v.patient_id = p.patient_id
--   rows         at most 185 rows of each owner
--   rows           all of visits as v
--   rows         at most 37 rows of each owner
--   rows           all of patients as p
--   rows       at most 148 rows of each owner
--   rows         all of prescriptions as r
--   bound    a person counts for at most 5 rows, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      sum of r.dose in [0, 100]; one integer is 1/8796093022208; moves by L1 500; Laplace, scale 500; epsilon 1
--   value 1  SUM(r.dose) = 1/8796093022208 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CASE WHEN "r.dose" BETWEEN '0.0'::DOUBLE AND '100.0'::DOUBLE THEN TRY_CAST("r.dose" * '8388608.0'::DOUBLE AS INTEGER) WHEN "r.dose" < '0.0'::DOUBLE THEN 0 WHEN "r.dose" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "p.sex", "r.dose" FROM (SELECT l.owner AS owner, "p.patient_id", "p.sex" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 185) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '')), r."v.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 185) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 37) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 37) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id")) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id", "dose" AS "r.dose" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("dose" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("dose" AS DOUBLE) END AS "dose" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 148) SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.patient_id", "r.dose" FROM (SELECT r.owner AS owner, r."r.patient_id" AS "r.patient_id", r."r.dose" AS "r.dose", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."r.dose" AS VARCHAR), '')), r."r.patient_id", r."r.dose") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 148) AS r ON l.owner = r.owner AND ("r.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A table with itself, and a larger bound for the pairs
-- loss: epsilon 1, max_rows 9
SELECT COUNT(*) AS pairs FROM visits a JOIN visits b ON a.patient_id = b.patient_id;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on a.patient_id = b.patient_id
--   rows       at most 1020 rows of each owner
--   rows         all of visits as a
--   rows       at most 1020 rows of each owner
--   rows         all of visits as b
--   bound    a person counts for at most 9 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 9; Laplace, scale 9; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "a.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."a.patient_id" AS "a.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "a.patient_id" FROM (SELECT r.owner AS owner, r."a.patient_id" AS "a.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."a.patient_id" AS VARCHAR), '')), r."a.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "b.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."b.patient_id" AS "b.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "b.patient_id" FROM (SELECT r.owner AS owner, r."b.patient_id" AS "b.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."b.patient_id" AS VARCHAR), '')), r."b.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS r ON l.owner = r.owner AND ("a.patient_id" = "b.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Pairs of one patient's visits where the second cost more
-- loss: epsilon 1, max_rows 9
SELECT a.ward, COUNT(*) AS dearer FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND b.cost > a.cost GROUP BY a.ward;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on a.patient_id = b.patient_id AND b.cost > a.cost
--   rows       at most 1020 rows of each owner
--   rows         all of visits as a
--   rows       at most 1020 rows of each owner
--   rows         all of visits as b
--   bound    a person counts for at most 9 rows, and as a person in at most 4 groups
--   keys     a.ward: 4 declared: A, B, it's, NULL
--   by       (a.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 9; Laplace, scale 9; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "a.ward" AS k0, owner FROM (SELECT l.owner AS owner, "a.ward" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "a.patient_id", "cost" AS "a.cost", "ward" AS "a.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."a.patient_id" AS "a.patient_id", r."a.cost" AS "a.cost", r."a.ward" AS "a.ward" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "a.patient_id", "a.cost", "a.ward" FROM (SELECT r.owner AS owner, r."a.patient_id" AS "a.patient_id", r."a.cost" AS "a.cost", r."a.ward" AS "a.ward", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."a.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."a.cost" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."a.ward" AS VARCHAR)), '')), r."a.patient_id", r."a.cost", r."a.ward") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "b.patient_id", "cost" AS "b.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1020) SELECT r.owner AS owner, r."b.patient_id" AS "b.patient_id", r."b.cost" AS "b.cost" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "b.patient_id", "b.cost" FROM (SELECT r.owner AS owner, r."b.patient_id" AS "b.patient_id", r."b.cost" AS "b.cost", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."b.patient_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."b.cost" AS VARCHAR), '')), r."b.patient_id", r."b.cost") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1020) AS r ON l.owner = r.owner AND (("a.patient_id" = "b.patient_id") AND ("b.cost" > "a.cost")))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A join with a replace-one table moves twice as much
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM stays s JOIN patients p ON s.patient_id = p.patient_id;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on s.patient_id = p.patient_id
--   rows       all of stays as s
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 5 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 5; Laplace, scale 5; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner FROM (SELECT "patient_id" AS owner, "patient_id" AS "s.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '')), r."p.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("s.patient_id" = "p.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 5242880 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Gaussian noise over a join
-- loss: rho 1/8
SELECT p.sex, SUM(v.cost) AS cost FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex;

-- plan
--   table    visits: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   table    patients: patient_id; add-remove; a change moves 1 vector; rho 0.125
--   rows     inner join, within each owner, on v.patient_id = p.patient_id
--   rows       all of visits as v
--   rows       at most 16 rows of each owner
--   rows         all of patients as p
--   bound    a person counts for at most 5 rows by the L2 norm over the groups, and as a person in at most 3 groups
--   keys     p.sex: 3 declared: f, m, NULL
--   by       (p.sex): 3 groups
--   [0]      sum of v.cost in [0, 1000]; one integer is 1/549755813888; moves by L2 5000; Gaussian, sigma 10000; rho 0.125
--   value 1  SUM(v.cost) = 1/549755813888 x [0]
--   cost     rho 0.125

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "p.sex" AS k0, CASE WHEN "v.cost" BETWEEN '0.0'::DOUBLE AND '1000.0'::DOUBLE THEN TRY_CAST("v.cost" * '524288.0'::DOUBLE AS INTEGER) WHEN "v.cost" < '0.0'::DOUBLE THEN 0 WHEN "v.cost" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "v.cost", "p.sex" FROM (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id", "cost" AS "v.cost" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN TRY_CAST("cost" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("cost" AS DOUBLE) END AS "cost" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL) AS l JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id", "sex" AS "p.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 16) SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "p.patient_id", "p.sex" FROM (SELECT r.owner AS owner, r."p.patient_id" AS "p.patient_id", r."p.sex" AS "p.sex", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."p.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."p.sex" AS VARCHAR)), '')), r."p.patient_id", r."p.sex") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 16) AS r ON l.owner = r.owner AND ("v.patient_id" = "p.patient_id"))),
pairs AS (SELECT owner, k0, count(*) AS n FROM contributions GROUP BY owner, k0),
lengths AS (SELECT owner, sum(CAST(n AS HUGEINT) * n) AS squared FROM pairs JOIN keys0 ON keys0.value IS NOT DISTINCT FROM pairs.k0 GROUP BY owner),
weights AS (SELECT owner, CASE WHEN w * w * squared <= 27487790694400 THEN w WHEN (w - 1) * (w - 1) * squared <= 27487790694400 THEN w - 1 ELSE 0 END AS w FROM (SELECT owner, squared, CAST(least(1048576, floor('5242880.0'::DOUBLE / sqrt(CAST(squared AS DOUBLE)))) AS BIGINT) AS w FROM lengths)),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Two tables of which one knows how many people there are
-- loss: epsilon 1, max_rows 9
SELECT s.ward, COUNT(*) AS n FROM stays s LEFT JOIN visits v USING (patient_id) GROUP BY s.ward;

-- plan
--   table    stays: patient_id; replace-one; a change moves 2 vectors; epsilon 1
--   table    visits: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     left join, within each owner, on s.patient_id = v.patient_id
--   rows       at most 720 rows of each owner
--   rows         all of stays as s
--   rows       at most 720 rows of each owner
--   rows         all of visits as v
--   bound    a person counts for at most 9 rows, and as a person in at most 4 groups
--   keys     s.ward: 4 declared: A, B, it's, NULL
--   by       (s.ward): 4 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 18; Laplace, scale 18; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(4)) AS place, unnest('["A", "B", "it''s", NULL]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "s.ward" AS k0, owner FROM (SELECT l.owner AS owner, "s.ward" FROM (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "s.patient_id", "ward" AS "s.ward" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("ward" AS VARCHAR)) <= 65536 THEN TRY_CAST("ward" AS VARCHAR) COLLATE "C" END AS "ward" FROM "source /data/clinic.duckdb"."stays") WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 720) SELECT r.owner AS owner, r."s.patient_id" AS "s.patient_id", r."s.ward" AS "s.ward" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.patient_id", "s.ward" FROM (SELECT r.owner AS owner, r."s.patient_id" AS "s.patient_id", r."s.ward" AS "s.ward", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.patient_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."s.ward" AS VARCHAR)), '')), r."s.patient_id", r."s.ward") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 720) AS l LEFT JOIN (WITH capped_rows AS (SELECT "patient_id" AS owner, "patient_id" AS "v.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM read_parquet('/data/visits.parquet', hive_partitioning = false, can_have_nan = true)) WHERE "patient_id" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 720) SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "v.patient_id" FROM (SELECT r.owner AS owner, r."v.patient_id" AS "v.patient_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."v.patient_id" AS VARCHAR), '')), r."v.patient_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 720) AS r ON l.owner = r.owner AND ("s.patient_id" = "v.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 9437184 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # A semi join
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients p SEMI JOIN prescriptions r ON p.patient_id = r.patient_id;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on p.patient_id = r.patient_id
--   rows       all of patients as p
--   rows       all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o ON s.owner = o.owner AND ("p.patient_id" = "r.patient_id"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # An anti join
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM patients p ANTI JOIN prescriptions r ON p.patient_id = r.patient_id;

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   table    prescriptions: patient_id; add-remove; a change moves 2 vectors; epsilon 1
--   rows     where NOT found.1
--   rows       found.1 says whether there is a partner, within each owner, on p.patient_id = r.patient_id
--   rows         all of patients as p
--   rows         all of prescriptions as r
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner, EXISTS (SELECT 1 FROM (SELECT "patient_id" AS owner, "patient_id" AS "r.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame prescriptions") WHERE "patient_id" IS NOT NULL) AS o WHERE s.owner = o.owner AND ("p.patient_id" = "r.patient_id")) AS "found.1" FROM (SELECT "patient_id" AS owner, "patient_id" AS "p.patient_id" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s) WHERE (NOT "found.1")),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;
