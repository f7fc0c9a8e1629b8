-- Parts: questions about disjoint parts of a table, of which the ledger counts the largest.

-- # A part of a table whose rows are people
-- loss: epsilon 1, part level=2
SELECT COUNT(*), SUM(age) FROM people;

-- plain
SELECT COUNT(*), SUM(age) FROM people WHERE level = 2;

-- plan
--   table    people: each row is a person; add-remove; a change moves 1 vector; epsilon 1
--   rows     where level = 2
--   rows       all of people
--   bound    every row counts 1
--   [0]      rows; one integer is 1, 60 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   [1]      sum of age in [0, 120], less 60; one integer is 1, 1 times; moves by L1 60; joint noise of 2, scale 60; epsilon 1
--   value 1  COUNT(*) = 1/60 x [0]
--   value 2  SUM(age) = [0] + [1]
--   cost     epsilon 1

-- engine
WITH contributions AS NOT MATERIALIZED (SELECT CASE WHEN "age" BETWEEN 0 AND 120 THEN TRY_CAST("age" AS INTEGER) WHEN "age" < 0 THEN 0 WHEN "age" > 120 THEN 120 ELSE 0 END AS v1 FROM (SELECT TRY_CAST("age" AS BIGINT) AS "age", TRY_CAST("level" AS BIGINT) AS "level" FROM "frame people") WHERE ("level" = 2)),
totals AS (SELECT count(*) AS m0, sum(v1) + CAST(count(*) AS HUGEINT) * -60 AS m1 FROM contributions)
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # The people who belong to a part
-- loss: epsilon 1, part sex=f
SELECT AVG(height) AS height FROM patients;

-- plain
SELECT AVG(height) AS height FROM patients WHERE sex = 'f';

-- plan
--   table    patients: patient_id; add-remove; a change moves 1 vector; epsilon 1
--   rows     where patients.sex = 'f'
--   rows       of the owners who belong to patients.sex = f, one of 3 parts
--   rows         all of patients as patients
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      sum of patients.height in [50, 250], less 150; one integer is 1/8796093022208, 1 times; moves by L1 100; joint noise of 2, scale 100; epsilon 1
--   [1]      rows with patients.height; one integer is 1/1048576, 838860800 times; moves by L1 1; joint noise of 2, scale 1; epsilon 1
--   value 1  AVG(patients.height) = (1/8796093022208 x [0] + about 1.705302566e-13 x [1]) / (1/879609302220800 x [1]), kept in [50, 250]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "patients.height" BETWEEN '50.0'::DOUBLE AND '250.0'::DOUBLE THEN TRY_CAST(("patients.height" - '150.0'::DOUBLE) * '8388608.0'::DOUBLE AS INTEGER) WHEN "patients.height" < '50.0'::DOUBLE THEN -838860800 WHEN "patients.height" <= 'inf'::DOUBLE THEN 838860800 ELSE 0 END AS v0, CAST(coalesce("patients.height" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT s.owner AS owner, s."patients.sex", s."patients.height" FROM (SELECT "patient_id" AS owner, "sex" AS "patients.sex", "height" AS "patients.height" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex", CASE WHEN TRY_CAST("height" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("height" AS DOUBLE) END AS "height" FROM "frame patients") WHERE "patient_id" IS NOT NULL) AS s SEMI JOIN (SELECT owner FROM (SELECT DISTINCT a.owner, a.part FROM (SELECT owner, "patients.sex" AS part FROM (SELECT "patient_id" AS owner, "sex" AS "patients.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL)) AS a SEMI JOIN (SELECT owner FROM (SELECT owner, "patients.sex" AS part FROM (SELECT "patient_id" AS owner, "sex" AS "patients.sex" FROM (SELECT TRY_CAST("patient_id" AS BIGINT) AS "patient_id", CASE WHEN strlen(TRY_CAST("sex" AS VARCHAR)) <= 65536 THEN TRY_CAST("sex" AS VARCHAR) COLLATE "C" END AS "sex" FROM "frame patients") WHERE "patient_id" IS NOT NULL)) WHERE part IS NOT DISTINCT FROM ('["f"]'::VARCHAR[])[1]) AS h ON a.owner = h.owner) AS d JOIN (SELECT unnest(range(3)) AS place, unnest('["f", "m", NULL]'::VARCHAR[]) AS value) AS k ON k.value IS NOT DISTINCT FROM d.part GROUP BY owner HAVING right(min(md5(CAST(owner AS VARCHAR) || '|' || place) || lpad(CAST(place AS VARCHAR), 1, '0')), 1) = '0') AS o ON s.owner = o.owner) WHERE ("patients.sex" = 'f')),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;
