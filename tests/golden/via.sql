-- Via: the owner is reached through a unique key of another protected table, in one step or two.

-- # Lines of sales
-- loss: epsilon 1
SELECT COUNT(*) AS n, SUM(amount * quantity) AS worth FROM lines;

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of lines as lines
--   bound    a person counts for at most 8 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576, 163840000 times; moves by L1 8; joint noise of 2, scale 8; epsilon 1
--   [1]      sum of lines.amount * lines.quantity in [0, 10000], less 5000; one integer is 1/34359738368, 1 times; moves by L1 40000; joint noise of 2, scale 40000; epsilon 1
--   value 1  COUNT(*) = 1/171798691840000 x [0]
--   value 2  SUM(lines.amount * lines.quantity) = 1/34359738368 x [0] + 1/34359738368 x [1]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT (CAST(greatest(least(("lines.amount" * CAST("lines.quantity" AS DOUBLE)), '10000.0'::DOUBLE), '0.0'::DOUBLE) * '32768.0'::DOUBLE AS INTEGER)) * CAST(coalesce(("lines.amount" * CAST("lines.quantity" AS DOUBLE)) <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT reached.owner AS owner, here."lines.amount", here."lines.quantity" FROM (SELECT "amount" AS "lines.amount", "quantity" AS "lines.quantity", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount", TRY_CAST("quantity" AS BIGINT) AS "quantity" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there)),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0, sum(w * v1) + CAST(sum(w) AS HUGEINT) * -163840000 AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Customers who bought codeine
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM (SELECT DISTINCT s.customer FROM sales s JOIN lines l ON l.sale_id = s.sale_id WHERE l.drug = 'codeine') AS t;

-- plan
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.customer = distinct.customer
--   rows       one row per owner and distinct.customer = select.customer
--   rows         columns select.customer = s.customer
--   rows           where l.drug = 'codeine'
--   rows             inner join, within each owner, on l.sale_id = s.sale_id
--   rows               at most 627 rows of each owner
--   rows                 all of sales as s
--   rows               at most 1672 rows of each owner
--   rows                 all of lines as l
--   bound    a person counts for at most 1 row, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 1; Laplace, scale 1; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner FROM (SELECT owner AS owner, "s.customer" AS "select.customer" FROM (SELECT owner AS owner, "s.customer" FROM (SELECT l.owner AS owner, "s.customer", "l.drug" FROM (WITH capped_rows AS (SELECT "customer" AS owner, "sale_id" AS "s.sale_id", "customer" AS "s.customer" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 627) SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.customer" AS "s.customer" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.sale_id", "s.customer" FROM (SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.customer" AS "s.customer", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.sale_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."s.customer" AS VARCHAR), '')), r."s.sale_id", r."s.customer") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 627) AS l JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.sale_id", here."l.drug" FROM (SELECT "sale_id" AS "l.sale_id", "drug" AS "l.drug", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1672) SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id", r."l.drug" AS "l.drug" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.sale_id", "l.drug" FROM (SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id", r."l.drug" AS "l.drug", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.sale_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."l.drug" AS VARCHAR)), '')), r."l.sale_id", r."l.drug") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1672) AS r ON l.owner = r.owner AND ("l.sale_id" = "s.sale_id")) WHERE ("l.drug" = 'codeine'))) GROUP BY owner, "select.customer"))),
weights AS (SELECT owner, CAST(least(1048576, 1048576 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # A join on the declared key is a join of owners
-- loss: epsilon 1
SELECT s.shop, SUM(l.amount) AS amount FROM sales s JOIN lines l ON l.sale_id = s.sale_id GROUP BY s.shop;

-- plan
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on l.sale_id = s.sale_id
--   rows       at most 627 rows of each owner
--   rows         all of sales as s
--   rows       at most 1672 rows of each owner
--   rows         all of lines as l
--   bound    a person counts for at most 8 rows, and as a person in at most 2 groups
--   keys     s.shop: 2 declared: north, south
--   by       (s.shop): 2 groups
--   [0]      sum of l.amount in [0, 500]; one integer is 1/1099511627776; moves by L1 4000; Laplace, scale 4000; epsilon 1
--   value 1  SUM(l.amount) = 1/1099511627776 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["north", "south"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "s.shop" AS k0, CASE WHEN "l.amount" BETWEEN '0.0'::DOUBLE AND '500.0'::DOUBLE THEN TRY_CAST("l.amount" * '1048576.0'::DOUBLE AS INTEGER) WHEN "l.amount" < '0.0'::DOUBLE THEN 0 WHEN "l.amount" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "s.shop", "l.amount" FROM (WITH capped_rows AS (SELECT "customer" AS owner, "sale_id" AS "s.sale_id", "shop" AS "s.shop" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop" FROM "frame sales") WHERE "customer" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 627) SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.sale_id", "s.shop" FROM (SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.sale_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."s.shop" AS VARCHAR)), '')), r."s.sale_id", r."s.shop") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 627) AS l JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.sale_id", here."l.amount" FROM (SELECT "sale_id" AS "l.sale_id", "amount" AS "l.amount", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1672) SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.sale_id", "l.amount" FROM (SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.sale_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.amount" AS VARCHAR), '')), r."l.sale_id", r."l.amount") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1672) AS r ON l.owner = r.owner AND ("l.sale_id" = "s.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # The same join from the other side
-- loss: epsilon 1
SELECT s.shop, COUNT(*) AS n FROM lines l JOIN sales s USING (sale_id) WHERE s.sold >= '2025-07-01' GROUP BY s.shop;

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     where s.sold >= '2025-07-01'
--   rows       inner join, within each owner, on l.sale_id = s.sale_id
--   rows         at most 1672 rows of each owner
--   rows           all of lines as l
--   rows         at most 627 rows of each owner
--   rows           all of sales as s
--   bound    a person counts for at most 8 rows, and as a person in at most 2 groups
--   keys     s.shop: 2 declared: north, south
--   by       (s.shop): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 8; Laplace, scale 8; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["north", "south"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "s.shop" AS k0, owner FROM (SELECT l.owner AS owner, "s.shop", "s.sold" FROM (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.sale_id" FROM (SELECT "sale_id" AS "l.sale_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1672) SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.sale_id" FROM (SELECT r.owner AS owner, r."l.sale_id" AS "l.sale_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.sale_id" AS VARCHAR), '')), r."l.sale_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1672) AS l JOIN (WITH capped_rows AS (SELECT "customer" AS owner, "sale_id" AS "s.sale_id", "shop" AS "s.shop", "sold" AS "s.sold" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop", CASE WHEN TRY_CAST("sold" AS DATE) BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN greatest(least(TRY_CAST("sold" AS DATE), DATE '9999-12-31'), DATE '0001-01-01') END AS "sold" FROM "frame sales") WHERE "customer" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 627) SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop", r."s.sold" AS "s.sold" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.sale_id", "s.shop", "s.sold" FROM (SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop", r."s.sold" AS "s.sold", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.sale_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."s.shop" AS VARCHAR)), '') || '|' || coalesce(CAST(r."s.sold" AS VARCHAR), '')), r."s.sale_id", r."s.shop", r."s.sold") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 627) AS r ON l.owner = r.owner AND ("l.sale_id" = "s.sale_id")) WHERE ("s.sold" >= DATE '2025-07-01')),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Two steps to the owner
-- loss: epsilon 1
SELECT SUM(refund) AS refunds FROM refunds;

-- plan
--   table    refunds: customer through lines (line_id = line_id); add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     all of refunds as refunds
--   bound    a person counts for at most 4 rows, and as a person in at most 1 group
--   [0]      sum of refunds.refund in [0, 500]; one integer is 1/2199023255552; moves by L1 2000; Laplace, scale 2000; epsilon 1
--   value 1  SUM(refunds.refund) = 1/2199023255552 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "refunds.refund" BETWEEN '0.0'::DOUBLE AND '500.0'::DOUBLE THEN TRY_CAST("refunds.refund" * '2097152.0'::DOUBLE AS INTEGER) WHEN "refunds.refund" < '0.0'::DOUBLE THEN 0 WHEN "refunds.refund" <= 'inf'::DOUBLE THEN 1048576000 ELSE 0 END AS v0, owner FROM (SELECT reached.owner AS owner, here."refunds.refund" FROM (SELECT "refund" AS "refunds.refund", "line_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", CASE WHEN TRY_CAST("refund" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("refund" AS DOUBLE) END AS "refund" FROM "frame refunds")) AS here JOIN (SELECT owner, "reached.line_id" AS there FROM (SELECT reached.owner AS owner, here."reached.line_id" FROM (SELECT "line_id" AS "reached.line_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there)) AS reached ON here.reached_by = reached.there)),
weights AS (SELECT owner, CAST(least(1048576, 4194304 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Refunds with their lines and sales
-- loss: epsilon 1
SELECT s.shop, SUM(r.refund) AS refunds, SUM(l.amount) AS amount FROM refunds r JOIN lines l ON r.line_id = l.line_id JOIN sales s ON l.sale_id = s.sale_id GROUP BY s.shop;

-- plan
--   table    refunds: customer through lines (line_id = line_id); add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on l.sale_id = s.sale_id
--   rows       inner join, within each owner, on r.line_id = l.line_id
--   rows         at most 88 rows of each owner
--   rows           all of refunds as r
--   rows         at most 176 rows of each owner
--   rows           all of lines as l
--   rows       at most 66 rows of each owner
--   rows         all of sales as s
--   bound    a person counts for at most 8 rows, and as a person in at most 2 groups
--   keys     s.shop: 2 declared: north, south
--   by       (s.shop): 2 groups
--   [0]      sum of r.refund in [0, 500], less 250; one integer is 1/1099511627776, 1 times; moves by L1 2000; joint noise of 3, scale 2000; epsilon 1
--   [1]      rows; one integer is 1/1048576, 262144000 times; moves by L1 8; joint noise of 3, scale 8; epsilon 1
--   [2]      sum of l.amount in [0, 500], less 250; one integer is 1/1099511627776, 1 times; moves by L1 2000; joint noise of 3, scale 2000; epsilon 1
--   value 1  SUM(r.refund) = 1/1099511627776 x [0] + 1/1099511627776 x [1]
--   value 2  SUM(l.amount) = 1/1099511627776 x [1] + 1/1099511627776 x [2]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["north", "south"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "s.shop" AS k0, CASE WHEN "r.refund" BETWEEN '0.0'::DOUBLE AND '500.0'::DOUBLE THEN TRY_CAST("r.refund" * '1048576.0'::DOUBLE AS INTEGER) WHEN "r.refund" < '0.0'::DOUBLE THEN 0 WHEN "r.refund" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, CASE WHEN "l.amount" BETWEEN '0.0'::DOUBLE AND '500.0'::DOUBLE THEN TRY_CAST("l.amount" * '1048576.0'::DOUBLE AS INTEGER) WHEN "l.amount" < '0.0'::DOUBLE THEN 0 WHEN "l.amount" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v2, owner FROM (SELECT l.owner AS owner, "r.refund", "l.amount", "s.shop" FROM (SELECT l.owner AS owner, "r.refund", "l.sale_id", "l.amount" FROM (WITH capped_rows AS (SELECT reached.owner AS owner, here."r.line_id", here."r.refund" FROM (SELECT "line_id" AS "r.line_id", "refund" AS "r.refund", "line_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", CASE WHEN TRY_CAST("refund" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("refund" AS DOUBLE) END AS "refund" FROM "frame refunds")) AS here JOIN (SELECT owner, "reached.line_id" AS there FROM (SELECT reached.owner AS owner, here."reached.line_id" FROM (SELECT "line_id" AS "reached.line_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 88) SELECT r.owner AS owner, r."r.line_id" AS "r.line_id", r."r.refund" AS "r.refund" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.line_id", "r.refund" FROM (SELECT r.owner AS owner, r."r.line_id" AS "r.line_id", r."r.refund" AS "r.refund", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.line_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."r.refund" AS VARCHAR), '')), r."r.line_id", r."r.refund") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 88) AS l JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.line_id", here."l.sale_id", here."l.amount" FROM (SELECT "line_id" AS "l.line_id", "sale_id" AS "l.sale_id", "amount" AS "l.amount", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 176) SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.line_id", "l.sale_id", "l.amount" FROM (SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.line_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.sale_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.amount" AS VARCHAR), '')), r."l.line_id", r."l.sale_id", r."l.amount") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 176) AS r ON l.owner = r.owner AND ("r.line_id" = "l.line_id")) AS l JOIN (WITH capped_rows AS (SELECT "customer" AS owner, "sale_id" AS "s.sale_id", "shop" AS "s.shop" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop" FROM "frame sales") WHERE "customer" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 66) SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.sale_id", "s.shop" FROM (SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.sale_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."s.shop" AS VARCHAR)), '')), r."s.sale_id", r."s.shop") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 66) AS r ON l.owner = r.owner AND ("l.sale_id" = "s.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) + CAST(sum(w) AS HUGEINT) * -262144000 AS m0, sum(w) AS m1, sum(w * v2) + CAST(sum(w) AS HUGEINT) * -262144000 AS m2 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0), coalesce(m1, 0), coalesce(m2, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Lines without a refund
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM lines l WHERE NOT EXISTS (SELECT 1 FROM refunds r WHERE r.line_id = l.line_id);

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   table    refunds: customer through lines (line_id = line_id); add-remove; a change moves 2 vectors; epsilon 1
--   rows     where NOT found.1
--   rows       found.1 says whether there is a partner, within each owner, on r.line_id = l.line_id
--   rows         all of lines as l
--   rows         all of refunds as r
--   bound    a person counts for at most 8 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 8; Laplace, scale 8; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner, EXISTS (SELECT 1 FROM (SELECT reached.owner AS owner, here."r.line_id" FROM (SELECT "line_id" AS "r.line_id", "line_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id" FROM "frame refunds")) AS here JOIN (SELECT owner, "reached.line_id" AS there FROM (SELECT reached.owner AS owner, here."reached.line_id" FROM (SELECT "line_id" AS "reached.line_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there)) AS reached ON here.reached_by = reached.there) AS o WHERE s.owner = o.owner AND ("r.line_id" = "l.line_id")) AS "found.1" FROM (SELECT reached.owner AS owner, here."l.line_id" FROM (SELECT "line_id" AS "l.line_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there) AS s) WHERE (NOT "found.1")),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Worth of each sale
-- loss: epsilon 1
SELECT AVG(worth) AS mean FROM (SELECT sale_id, SUM(amount) AS worth FROM lines GROUP BY sale_id) AS t;

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     columns t.sale_id = select.sale_id, t.worth = select.worth
--   rows       columns select.sale_id = person.key0, select.worth = person.sum0
--   rows         one row per owner and person.key0 = lines.sale_id; person.sum0 = SUM(lines.amount) in [0, 4000]
--   rows           all of lines as lines
--   bound    a person counts for at most 8 rows, and as a person in at most 1 group
--   [0]      sum of t.worth in [0, 4000], less 2000; one integer is 1/274877906944, 1 times; moves by L1 16000; joint noise of 2, scale 16000; epsilon 1
--   [1]      rows with t.worth; one integer is 1/1048576, 524288000 times; moves by L1 8; joint noise of 2, scale 8; epsilon 1
--   value 1  AVG(t.worth) = (1/274877906944 x [0] + 1/274877906944 x [1]) / (1/549755813888000 x [1]), kept in [0, 4000]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT CASE WHEN "t.worth" BETWEEN '0.0'::DOUBLE AND '4000.0'::DOUBLE THEN TRY_CAST(("t.worth" - '2000.0'::DOUBLE) * '262144.0'::DOUBLE AS INTEGER) WHEN "t.worth" < '0.0'::DOUBLE THEN -524288000 WHEN "t.worth" <= 'inf'::DOUBLE THEN 524288000 ELSE 0 END AS v0, CAST(coalesce("t.worth" <= 'inf'::DOUBLE, FALSE) AS INTEGER) AS v1, owner FROM (SELECT owner AS owner, "select.worth" AS "t.worth" FROM (SELECT owner AS owner, "person.sum0" AS "select.worth" FROM (SELECT owner AS owner, CASE WHEN (count(*) FILTER (WHERE coalesce("lines.amount" <= 'inf'::DOUBLE, FALSE))) > 0 THEN greatest(least(CAST(sum(CAST(greatest(least("lines.amount", '500.0'::DOUBLE), '0.0'::DOUBLE) * '2147483648.0'::DOUBLE AS BIGINT)) FILTER (WHERE coalesce("lines.amount" <= 'inf'::DOUBLE, FALSE)) AS DOUBLE) / '2147483648.0'::DOUBLE, '4000.0'::DOUBLE), '0.0'::DOUBLE) END AS "person.sum0" FROM (SELECT reached.owner AS owner, here."lines.sale_id", here."lines.amount" FROM (SELECT "sale_id" AS "lines.sale_id", "amount" AS "lines.amount", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there) GROUP BY owner, "lines.sale_id")))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w * v0) AS m0, sum(w * v1) AS m1 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0), coalesce(m1, 0) FROM totals;


-- # Lines of some sales, by IN
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM lines WHERE sale_id IN (SELECT sale_id FROM sales WHERE shop = 'north');

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on lines.sale_id = sales.sale_id
--   rows       all of lines as lines
--   rows       where sales.shop = 'north'
--   rows         all of sales as sales
--   bound    a person counts for at most 8 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 8; Laplace, scale 8; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (SELECT reached.owner AS owner, here."lines.sale_id" FROM (SELECT "sale_id" AS "lines.sale_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there) AS s SEMI JOIN (SELECT owner AS owner, "sales.sale_id" FROM (SELECT "customer" AS owner, "sale_id" AS "sales.sale_id", "shop" AS "sales.shop" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop" FROM "frame sales") WHERE "customer" IS NOT NULL) WHERE ("sales.shop" = 'north')) AS o ON s.owner = o.owner AND ("lines.sale_id" = "sales.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Sales with a dear line, by IN
-- loss: epsilon 1
SELECT shop, COUNT(*) AS n FROM sales WHERE sale_id IN (SELECT sale_id FROM lines WHERE amount > 100) GROUP BY shop;

-- plan
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on sales.sale_id = lines.sale_id
--   rows       all of sales as sales
--   rows       where lines.amount > 100
--   rows         all of lines as lines
--   bound    a person counts for at most 3 rows, and as a person in at most 2 groups
--   keys     sales.shop: 2 declared: north, south
--   by       (sales.shop): 2 groups
--   [0]      rows; one integer is 1/1048576; moves by L1 3; Laplace, scale 3; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["north", "south"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "sales.shop" AS k0, owner FROM (SELECT s.owner AS owner, "sales.shop" FROM (SELECT "customer" AS owner, "sale_id" AS "sales.sale_id", "shop" AS "sales.shop" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop" FROM "frame sales") WHERE "customer" IS NOT NULL) AS s SEMI JOIN (SELECT owner AS owner, "lines.sale_id" FROM (SELECT reached.owner AS owner, here."lines.sale_id", here."lines.amount" FROM (SELECT "sale_id" AS "lines.sale_id", "amount" AS "lines.amount", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there) WHERE ("lines.amount" > '100.0'::DOUBLE)) AS o ON s.owner = o.owner AND ("sales.sale_id" = "lines.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 3145728 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Sales with a refund, two steps away
-- loss: epsilon 1
SELECT COUNT(*) AS n FROM sales s WHERE EXISTS (SELECT 1 FROM refunds r JOIN lines l ON r.line_id = l.line_id WHERE l.sale_id = s.sale_id);

-- plan
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   table    refunds: customer through lines (line_id = line_id); add-remove; a change moves 1 vector; epsilon 1
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   rows     rows that have a partner, within each owner, on l.sale_id = s.sale_id
--   rows       all of sales as s
--   rows       inner join, within each owner, on r.line_id = l.line_id
--   rows         at most 724 rows of each owner
--   rows           all of refunds as r
--   rows         at most 1448 rows of each owner
--   rows           all of lines as l
--   bound    a person counts for at most 3 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 3; Laplace, scale 3; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT s.owner AS owner FROM (SELECT "customer" AS owner, "sale_id" AS "s.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL) AS s SEMI JOIN (SELECT l.owner AS owner, "l.sale_id" FROM (WITH capped_rows AS (SELECT reached.owner AS owner, here."r.line_id" FROM (SELECT "line_id" AS "r.line_id", "line_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id" FROM "frame refunds")) AS here JOIN (SELECT owner, "reached.line_id" AS there FROM (SELECT reached.owner AS owner, here."reached.line_id" FROM (SELECT "line_id" AS "reached.line_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 724) SELECT r.owner AS owner, r."r.line_id" AS "r.line_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "r.line_id" FROM (SELECT r.owner AS owner, r."r.line_id" AS "r.line_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."r.line_id" AS VARCHAR), '')), r."r.line_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 724) AS l JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.line_id", here."l.sale_id" FROM (SELECT "line_id" AS "l.line_id", "sale_id" AS "l.sale_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1448) SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.line_id", "l.sale_id" FROM (SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.line_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.sale_id" AS VARCHAR), '')), r."l.line_id", r."l.sale_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1448) AS r ON l.owner = r.owner AND ("r.line_id" = "l.line_id")) AS o ON s.owner = o.owner AND ("l.sale_id" = "s.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 3145728 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Lines of the same sale
-- loss: epsilon 1
SELECT COUNT(*) AS pairs FROM lines a JOIN lines b ON a.sale_id = b.sale_id;

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   rows     inner join, within each owner, on a.sale_id = b.sale_id
--   rows       at most 1024 rows of each owner
--   rows         all of lines as a
--   rows       at most 1024 rows of each owner
--   rows         all of lines as b
--   bound    a person counts for at most 8 rows, and as a person in at most 1 group
--   [0]      rows; one integer is 1/1048576; moves by L1 8; Laplace, scale 8; epsilon 1
--   value 1  COUNT(*) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH contributions AS MATERIALIZED (SELECT owner FROM (SELECT l.owner AS owner FROM (WITH capped_rows AS (SELECT reached.owner AS owner, here."a.sale_id" FROM (SELECT "sale_id" AS "a.sale_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1024) SELECT r.owner AS owner, r."a.sale_id" AS "a.sale_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "a.sale_id" FROM (SELECT r.owner AS owner, r."a.sale_id" AS "a.sale_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."a.sale_id" AS VARCHAR), '')), r."a.sale_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1024) AS l JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."b.sale_id" FROM (SELECT "sale_id" AS "b.sale_id", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1024) SELECT r.owner AS owner, r."b.sale_id" AS "b.sale_id" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "b.sale_id" FROM (SELECT r.owner AS owner, r."b.sale_id" AS "b.sale_id", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."b.sale_id" AS VARCHAR), '')), r."b.sale_id") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1024) AS r ON l.owner = r.owner AND ("a.sale_id" = "b.sale_id"))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT sum(w) AS m0 FROM contributions JOIN weights USING (owner))
SELECT coalesce(m0, 0) FROM totals;


-- # Lines with a public table
-- loss: epsilon 1
SELECT d.maker, SUM(l.quantity) AS quantity FROM lines l JOIN drugs d ON l.drug = d.drug GROUP BY d.maker;

-- plan
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 1 vector; epsilon 1
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 1
--   public   drugs
--   rows     inner join, with public rows, on l.drug = d.drug
--   rows       all of lines as l
--   rows       all of drugs as d
--   bound    a person counts for at most 8 rows, and as a person in at most 3 groups
--   keys     d.maker: 3 declared: Asha, Bodhi, Chitra
--   by       (d.maker): 3 groups
--   [0]      sum of l.quantity in [0, 20]; one integer is 1/1048576; moves by L1 160; Laplace, scale 160; epsilon 1
--   value 1  SUM(l.quantity) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(3)) AS place, unnest('["Asha", "Bodhi", "Chitra"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "d.maker" AS k0, CASE WHEN "l.quantity" BETWEEN 0 AND 20 THEN TRY_CAST("l.quantity" AS INTEGER) WHEN "l.quantity" < 0 THEN 0 WHEN "l.quantity" > 20 THEN 20 ELSE 0 END AS v0, owner FROM (SELECT l.owner AS owner, "l.quantity", "d.maker" FROM (SELECT reached.owner AS owner, here."l.drug", here."l.quantity" FROM (SELECT "drug" AS "l.drug", "quantity" AS "l.quantity", "sale_id" AS reached_by FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", TRY_CAST("quantity" AS BIGINT) AS "quantity" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there) AS l JOIN (SELECT "drug" AS "d.drug", "maker" AS "d.maker" FROM (SELECT CASE WHEN strlen(TRY_CAST("drug" AS VARCHAR)) <= 65536 THEN TRY_CAST("drug" AS VARCHAR) COLLATE "C" END AS "drug", CASE WHEN strlen(TRY_CAST("maker" AS VARCHAR)) <= 65536 THEN TRY_CAST("maker" AS VARCHAR) COLLATE "C" END AS "maker" FROM "frame drugs")) AS r ON ("l.drug" = "d.drug"))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;


-- # Sales with their lines, also those without any left
-- loss: epsilon 1
SELECT s.shop, COUNT(l.line_id) AS dear FROM sales s LEFT JOIN lines l ON l.sale_id = s.sale_id AND l.amount > 200 GROUP BY s.shop;

-- plan
--   table    sales: customer; add-remove; a change moves 1 vector; epsilon 0.5
--   table    lines: customer through sales (sale_id = sale_id); add-remove; a change moves 2 vectors; epsilon 1
--   rows     left join, within each owner, on l.sale_id = s.sale_id AND l.amount > 200
--   rows       at most 441 rows of each owner
--   rows         all of sales as s
--   rows       at most 1176 rows of each owner
--   rows         all of lines as l
--   bound    a person counts for at most 8 rows, and as a person in at most 2 groups
--   keys     s.shop: 2 declared: north, south
--   by       (s.shop): 2 groups
--   [0]      rows with l.line_id; one integer is 1/1048576; moves by L1 16; Laplace, scale 16; epsilon 1
--   value 1  COUNT(l.line_id) = 1/1048576 x [0]
--   cost     epsilon 1

-- engine
WITH keys0 AS (SELECT unnest(range(2)) AS place, unnest('["north", "south"]'::VARCHAR[]) AS value),
contributions AS MATERIALIZED (SELECT "s.shop" AS k0, CAST(("l.line_id" IS NOT NULL) AS INTEGER) AS v0, owner FROM (SELECT l.owner AS owner, "s.shop", "l.line_id" FROM (WITH capped_rows AS (SELECT "customer" AS owner, "sale_id" AS "s.sale_id", "shop" AS "s.shop" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer", CASE WHEN strlen(TRY_CAST("shop" AS VARCHAR)) <= 65536 THEN TRY_CAST("shop" AS VARCHAR) COLLATE "C" END AS "shop" FROM "frame sales") WHERE "customer" IS NOT NULL), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 441) SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "s.sale_id", "s.shop" FROM (SELECT r.owner AS owner, r."s.sale_id" AS "s.sale_id", r."s.shop" AS "s.shop", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."s.sale_id" AS VARCHAR), '') || '|' || coalesce(md5(CAST(r."s.shop" AS VARCHAR)), '')), r."s.sale_id", r."s.shop") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 441) AS l LEFT JOIN (WITH capped_rows AS (SELECT reached.owner AS owner, here."l.line_id", here."l.sale_id", here."l.amount" FROM (SELECT "line_id" AS "l.line_id", "sale_id" AS "l.sale_id", "amount" AS "l.amount", "sale_id" AS reached_by FROM (SELECT TRY_CAST("line_id" AS BIGINT) AS "line_id", TRY_CAST("sale_id" AS BIGINT) AS "sale_id", CASE WHEN TRY_CAST("amount" AS DOUBLE) <= 'inf'::DOUBLE THEN TRY_CAST("amount" AS DOUBLE) END AS "amount" FROM "frame lines")) AS here JOIN (SELECT owner, "reached.sale_id" AS there FROM (SELECT "customer" AS owner, "sale_id" AS "reached.sale_id" FROM (SELECT TRY_CAST("sale_id" AS BIGINT) AS "sale_id", TRY_CAST("customer" AS BIGINT) AS "customer" FROM "frame sales") WHERE "customer" IS NOT NULL)) AS reached ON here.reached_by = reached.there), capped_people AS (SELECT owner FROM capped_rows GROUP BY owner HAVING count(*) > 1176) SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount" FROM capped_rows AS r LEFT JOIN capped_people AS p ON r.owner = p.owner WHERE p.owner IS NULL UNION ALL SELECT owner, "l.line_id", "l.sale_id", "l.amount" FROM (SELECT r.owner AS owner, r."l.line_id" AS "l.line_id", r."l.sale_id" AS "l.sale_id", r."l.amount" AS "l.amount", row_number() OVER (PARTITION BY r.owner ORDER BY md5(coalesce(CAST(r."l.line_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.sale_id" AS VARCHAR), '') || '|' || coalesce(CAST(r."l.amount" AS VARCHAR), '')), r."l.line_id", r."l.sale_id", r."l.amount") AS place FROM capped_rows AS r INNER JOIN capped_people AS p ON r.owner = p.owner) WHERE place <= 1176) AS r ON l.owner = r.owner AND (("l.sale_id" = "s.sale_id") AND ("l.amount" > '200.0'::DOUBLE)))),
weights AS (SELECT owner, CAST(least(1048576, 8388608 // count(*)) AS BIGINT) AS w FROM contributions GROUP BY owner),
totals AS (SELECT k0, sum(w * v0) AS m0 FROM contributions JOIN weights USING (owner) GROUP BY k0)
SELECT coalesce(m0, 0) FROM keys0 LEFT JOIN totals ON keys0.value IS NOT DISTINCT FROM totals.k0 ORDER BY keys0.place;
