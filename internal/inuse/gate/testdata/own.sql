-- Ways around protection. Cases are separated by blank lines, a statement is one line.

-- errors
SELECT EXTRACTVALUE(1, CONCAT('$', (SELECT ssn FROM employee WHERE id = 1)))

SELECT UPDATEXML('<a/>', CONCAT('$$', (SELECT ssn FROM employee LIMIT 1)), 1)

SELECT EXTRACTVALUE(notes, '/a') FROM employee

SELECT CAST(ssn AS JSON) FROM employee

SELECT JSON_EXTRACT('{}', CONCAT('$.', ssn, '[')) FROM employee

SELECT JSON_VALUE(pub, CONCAT('$', (SELECT ssn FROM employee LIMIT 1))) FROM js

SELECT ST_GEOMFROMTEXT(ssn) FROM employee

SELECT EXP(salary * 100) FROM employee

SELECT POW(salary, 9999) FROM employee

SELECT NAME_CONST((SELECT ssn FROM employee WHERE id = 1), 1)

SELECT * FROM (SELECT NAME_CONST('x', 1) a, NAME_CONST('x', 1) b, ssn FROM employee) t

SELECT COUNT(*), CONCAT((SELECT ssn FROM employee WHERE id = 1), FLOOR(RAND(0) * 2)) x FROM dept GROUP BY x

SELECT GTID_SUBSET((SELECT ssn FROM employee LIMIT 1), 1)

SELECT CONVERT(ssn USING ascii), CONVERT(ssn USING nonsense) FROM employee

SELECT STR_TO_DATE(ssn, '%Y') FROM employee
SHOW WARNINGS

SELECT DATE(notes) FROM employee
SHOW COUNT(*) WARNINGS
SHOW ERRORS
SELECT @@warning_count, @@error_count

SELECT ssn + 0 FROM employee
GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT
SELECT @m

INSERT INTO employee (id, name, ssn) SELECT id + 10, name, ssn FROM employee WHERE id = 1

INSERT INTO employee (id, name, ssn) VALUES (77, 'x', '721-07-4426')

INSERT IGNORE INTO employee (id, name, ssn) SELECT id + 10, name, ssn FROM employee
SHOW WARNINGS

UPDATE employee SET ssn = '435-22-3267' WHERE id = 1

UPDATE IGNORE employee SET ssn = '435-22-3267' WHERE id = 1
SELECT ROW_COUNT()

INSERT INTO parent VALUES ('721-07-4426', 'x')

DELETE FROM parent WHERE name = 'Ann'

INSERT INTO child VALUES (9, 'nobody')

INSERT INTO plainly (id, a) SELECT 50 + id, CAST(ssn AS UNSIGNED) FROM employee

SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = (SELECT ssn FROM employee LIMIT 1)

RESIGNAL

SELECT BENCHMARK(IF((SELECT ssn FROM employee WHERE id = 1) > '5', 1000000, 1), MD5('x'))

SELECT name FROM dept WHERE SLEEP(IF((SELECT ssn FROM employee WHERE id = 1) > '5', 0.2, 0))

SELECT GET_LOCK((SELECT ssn FROM employee WHERE id = 1), 0)

SELECT IS_USED_LOCK(ssn) FROM employee

KILL QUERY 1

KILL (SELECT FLOOR(salary) FROM employee WHERE id = 1)

KILL USER app

-- metadata
SELECT ssn AS `name` FROM employee ORDER BY id LIMIT 1

SELECT 1 AS ssn, name AS salary FROM dept

SELECT e.* FROM employee e JOIN dept USING (name)

SELECT employee.* FROM pub.employee

SELECT hr.employee.ssn FROM hr.employee, pub.employee

SELECT pub.employee.ssn FROM hr.employee, pub.employee

SELECT employee.ssn FROM hr.employee, pub.employee AS x

SELECT employee.ssn FROM pub.employee AS x, hr.employee AS employee

SELECT `hr.employee.ssn`, `a``b`, employee FROM `e.ssn`

SELECT `hr`.`e.ssn`.`hr.employee.ssn`, employee.ssn FROM `e.ssn`, employee

SELECT `employee.ssn` FROM employee

SELECT EMPLOYEE.SSN, employee.SsN FROM employee

SELECT ſsn FROM employee

SELECT ѕѕn FROM employee

SELECT `ssn ` FROM employee

SELECT `ſalary`, `ŝalary` FROM employee

SELECT sṡn FROM employee

SELECT * FROM EMPLOYEE

SELECT * FROM Hr.employee

SELECT ssn FROM .employee

SELECT .employee.ssn FROM employee

SELECT hr . employee . ssn FROM hr . employee

USE pub
SELECT ssn FROM employee
SELECT ssn FROM hr.employee
USE hr
SELECT ssn FROM employee

SELECT (SELECT ssn FROM employee WHERE id = dept.id) AS name FROM dept

DESCRIBE employee ssn

SHOW FULL COLUMNS FROM employee LIKE 'ssn'

SHOW CREATE TABLE g

SHOW CREATE TABLE part

SHOW CREATE VIEW v_hide

SHOW TABLE STATUS LIKE 'employee'

SHOW INDEX FROM employee

SHOW OPEN TABLES

SHOW TRIGGERS

SHOW CREATE TRIGGER loud

SHOW CREATE FUNCTION tax

SHOW PROCEDURE STATUS

SHOW FUNCTION CODE tax

SHOW EVENTS

SHOW PROCESSLIST

SHOW FULL PROCESSLIST

SHOW ENGINE INNODB STATUS

SHOW PROFILES

SHOW EXPLAIN FOR 1

SHOW BINLOG EVENTS

SHOW MASTER STATUS

SHOW GRANTS

SHOW STATUS LIKE 'Handler_read%'

SHOW STATUS LIKE 'Last_query_cost'

SHOW SESSION STATUS

SHOW USER_STATISTICS

SHOW TABLE_STATISTICS

SHOW INDEX_STATISTICS

SHOW COLUMNS FROM employee WHERE Field = (SELECT MAX('ssn') FROM employee WHERE ssn > '5')

SHOW TABLES WHERE Tables_in_hr = (SELECT IF(ssn > '5', 'log', 'dept') FROM employee LIMIT 1)

SHOW VARIABLES WHERE Variable_name = 'port' AND (SELECT ssn FROM employee LIMIT 1) > '5'

SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_NAME = 'employee'

SELECT CARDINALITY FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'hr'

SELECT PARTITION_NAME, TABLE_ROWS FROM information_schema.PARTITIONS WHERE TABLE_NAME = 'part'

SELECT * FROM information_schema.OPTIMIZER_TRACE

SET optimizer_trace = 'enabled=on'
SELECT name FROM employee WHERE ssn = '721-07-4426'
SELECT TRACE FROM information_schema.OPTIMIZER_TRACE

SELECT * FROM mysql.column_stats

SELECT HISTOGRAM FROM mysql.column_stats

SELECT min_value, max_value FROM mysql.column_stats

SELECT INFO FROM information_schema.PROCESSLIST

SELECT * FROM information_schema.COLUMN_STATISTICS

SELECT * FROM information_schema.INNODB_BUFFER_PAGE LIMIT 1

SELECT * FROM information_schema.INNODB_FT_INDEX_TABLE

SELECT * FROM information_schema.USER_STATISTICS

SELECT * FROM performance_schema.events_statements_history

SELECT * FROM sys.statements_with_errors_or_warnings

SELECT ROUTINE_DEFINITION FROM information_schema.ROUTINES

SELECT COLUMN_DEFAULT, GENERATION_EXPRESSION FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'hr' AND TABLE_NAME = 'g'

ANALYZE TABLE employee

ANALYZE TABLE employee PERSISTENT FOR ALL

CHECKSUM TABLE employee

CHECK TABLE employee

ANALYZE FORMAT=JSON SELECT name FROM employee WHERE ssn = '721-07-4426'

ANALYZE SELECT name FROM employee WHERE ssn > '5'

EXPLAIN FORMAT=JSON SELECT name FROM dept WHERE id = (SELECT FLOOR(salary) FROM employee WHERE id = 1)

EXPLAIN EXTENDED SELECT * FROM employee WHERE id = 1
SHOW WARNINGS

EXPLAIN UPDATE employee SET ssn = 'x' WHERE ssn > '5'

EXPLAIN FOR CONNECTION 1

DESC SELECT ssn FROM employee WHERE id = 1

EXPLAIN SELECT name FROM part WHERE ssn = '435-22-3267'

EXPLAIN PARTITIONS SELECT name FROM part WHERE ssn > '5'

SELECT name FROM part PARTITION (high)

SELECT name FROM part PARTITION (low) WHERE id > 0

DELETE FROM part PARTITION (high)

INSERT INTO part PARTITION (low) SELECT id + 10, ssn, name FROM part

INSERT INTO part PARTITION (low) SELECT id + 10, ssn, name FROM part RETURNING *

REPLACE INTO part PARTITION (low) (id, ssn, name) SELECT id + 10, ssn, name FROM part ORDER BY id

INSERT IGNORE INTO part PARTITION (low) SELECT id + 10, ssn, name FROM part
SELECT id FROM part

ALTER TABLE part TRUNCATE PARTITION high

SELECT id FROM employee FORCE INDEX (uq_ssn) LIMIT 1

SELECT id FROM employee USE INDEX FOR ORDER BY (uq_ssn) LIMIT 1

-- defaults and generated columns
SELECT masked, sum, told, open, len FROM g

SELECT DEFAULT(told), DEFAULT(open) FROM g

SELECT name FROM employee WHERE EXISTS (SELECT 1 FROM g WHERE sum = CRC32('721-07-4426'))

SELECT MAX(sum) FROM g

SELECT id FROM g ORDER BY sum

SELECT id FROM g FORCE INDEX (sum) LIMIT 1

INSERT INTO g (id, ssn) VALUES (10, '999')
SELECT told, masked FROM g WHERE id = 10

INSERT INTO g (id, open) SELECT 20 + id, masked FROM g

INSERT INTO g (id, open) SELECT 20 + id, DEFAULT(told) FROM g

UPDATE g SET open = masked

UPDATE g SET open = DEFAULT(told)

UPDATE g SET told = DEFAULT
SELECT told FROM g

INSERT INTO g (id, ssn) VALUES (30, 'q') RETURNING id, masked, sum, told

ALTER TABLE g ADD COLUMN again VARCHAR(20) AS (ssn)

CREATE TABLE copy (id INT, s VARCHAR(20) AS ((SELECT ssn FROM employee LIMIT 1)))

CREATE TABLE copy LIKE employee

CREATE TABLE copy (id INT PRIMARY KEY, a VARCHAR(20) DEFAULT ((SELECT ssn FROM employee LIMIT 1)))

CREATE TABLE copy (a VARCHAR(20) CHECK (a > (SELECT ssn FROM employee LIMIT 1)))

CREATE TABLE copy SELECT ssn AS name FROM employee

CREATE TABLE copy (a VARCHAR(20)) SELECT ssn AS a FROM employee

CREATE TABLE copy REPLACE SELECT ssn FROM employee

CREATE TEMPORARY TABLE copy SELECT ssn FROM employee
SELECT * FROM copy

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(20), name VARCHAR(20))
INSERT INTO employee SELECT id, ssn, name FROM hr.employee
SELECT ssn FROM employee

CREATE TEMPORARY TABLE tmp (id INT, s VARCHAR(20))
INSERT INTO tmp SELECT id, ssn FROM employee
SELECT s FROM tmp

CREATE TEMPORARY TABLE dept (id INT, name VARCHAR(20), budget INT)
DROP TEMPORARY TABLE dept
SELECT budget FROM dept

CREATE TEMPORARY TABLE log (id INT, msg VARCHAR(20))
ROLLBACK
INSERT INTO log SELECT 1, ssn FROM employee

CREATE TABLE f (a VARCHAR(20)) ENGINE=FEDERATED CONNECTION='mysql://root@127.0.0.1/hr/employee'

CREATE TABLE f (id INT) ENGINE=CONNECT TABLE_TYPE=MYSQL SRCDEF='SELECT ssn FROM employee'

CREATE TABLE f (id INT) ENGINE=SPIDER COMMENT='host "127.0.0.1"'

CREATE TABLE f (id INT, ssn VARCHAR(11)) ENGINE=MERGE UNION=(employee)

CREATE TABLE f (id INT, ssn VARCHAR(11)) ENGINE=MRG_MyISAM UNION=(ft)

CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')

-- session state
SELECT LAST_INSERT_ID(FLOOR(salary)) FROM employee WHERE id = 1
SELECT LAST_INSERT_ID()

UPDATE plainly SET a = LAST_INSERT_ID((SELECT FLOOR(salary) FROM employee WHERE id = 1)) WHERE id = 1

UPDATE plainly SET a = LAST_INSERT_ID(a + 1) WHERE id = (SELECT IF(ssn > '5', 1, 2) FROM employee WHERE id = 1)

INSERT INTO log (msg) VALUES (LAST_INSERT_ID((SELECT CRC32(ssn) FROM employee LIMIT 1)))

SELECT @a := ssn FROM employee WHERE id = 1
SELECT @a

SELECT @a := IF(ssn > '5', 1, 0) FROM employee WHERE id = 1
SELECT @a

SELECT name FROM dept WHERE (@a := (SELECT ssn FROM employee LIMIT 1)) IS NOT NULL
SELECT @a

SELECT name FROM dept HAVING (@a := (SELECT ssn FROM employee LIMIT 1)) > ''
SELECT @a

SELECT name, @n := @n + 1 FROM employee WHERE ssn > '5'
SELECT @n

SELECT @n := 0, name FROM dept ORDER BY (SELECT ssn FROM employee WHERE id = dept.id)
SELECT @n

SET @a = (SELECT ssn FROM employee LIMIT 1)
SELECT @a

SET @a := 1, @b = (SELECT ssn FROM employee LIMIT 1)

SET @`a.b` = 1, @'c' = 2, @"d" = 3
SELECT @`a.b`, @'c', @"d"

SET STATEMENT max_statement_time = 1 FOR SELECT ssn FROM employee

SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT "ssn" FROM employee

SET sql_mode = (SELECT GROUP_CONCAT(ssn) FROM employee)

SET NAMES (SELECT ssn FROM employee LIMIT 1)

SET character_set_results = (SELECT ssn FROM employee LIMIT 1)

SET timestamp = (SELECT FLOOR(salary) FROM employee WHERE id = 1)
SELECT UNIX_TIMESTAMP(), @@timestamp

SET insert_id = (SELECT FLOOR(salary) FROM employee WHERE id = 1)

SET time_zone = (SELECT ssn FROM employee LIMIT 1)

SET PASSWORD = PASSWORD('x')

SET DEFAULT ROLE NONE

SET ROLE ALL

SET rand_seed1 = (SELECT FLOOR(salary) FROM employee LIMIT 1)

SET sql_select_limit = (SELECT FLOOR(salary) FROM employee LIMIT 1)

SET debug_dbug = '+d'

SET SESSION binlog_format = 'STATEMENT'

SET GLOBAL general_log = 'ON'

DO (SELECT @x := ssn FROM employee LIMIT 1)
SELECT @x

DO SLEEP((SELECT salary > 90000 FROM employee WHERE id = 1))

SELECT ssn INTO @a FROM employee LIMIT 1

SELECT ssn FROM employee LIMIT 1 INTO @a

SELECT name, (SELECT ssn FROM employee LIMIT 1) INTO @a, @b FROM dept LIMIT 1

SELECT COUNT(*) FROM employee WHERE ssn > '5' INTO @a

SELECT SQL_CALC_FOUND_ROWS name FROM employee WHERE ssn > '5' LIMIT 1
SELECT FOUND_ROWS()

SELECT NEXTVAL(seq) FROM employee WHERE ssn > '5'
SELECT LASTVAL(seq)

SELECT SETVAL(seq, (SELECT FLOOR(salary) FROM employee WHERE id = 1))
SELECT NEXTVAL(seq)

SELECT SETVAL(seq, FLOOR(salary)) FROM employee WHERE id = 1

SELECT IF(ssn > '5', NEXTVAL(seq), 0) FROM employee
SELECT LASTVAL(seq)

SELECT NEXT VALUE FOR seq, PREVIOUS VALUE FOR seq

SELECT * FROM seq

SELECT seq.next_not_cached_value FROM seq

SELECT s.seq FROM seq_1_to_20 s WHERE s.seq = (SELECT LENGTH(ssn) FROM employee WHERE id = 1)

SELECT GROUP_CONCAT(CHAR(c.seq) ORDER BY p.seq SEPARATOR '') FROM seq_1_to_11 p JOIN seq_32_to_126 c ON SUBSTR((SELECT ssn FROM employee WHERE id = 1), p.seq, 1) = CHAR(c.seq)

SELECT p.seq, c.seq FROM seq_1_to_11 p, seq_48_to_57 c, employee e WHERE e.id = 1 AND MID(e.ssn, p.seq, 1) = CHAR(c.seq)

SELECT c.seq FROM seq_1_to_100000 c JOIN employee e ON FLOOR(e.salary) = c.seq

SELECT (SELECT c.seq FROM seq_1_to_200000 c WHERE c.seq = FLOOR(e.salary)) FROM employee e

-- files
SELECT ssn FROM employee INTO OUTFILE '/tmp/x'

SELECT ssn INTO DUMPFILE '/tmp/x' FROM employee LIMIT 1

SELECT LOAD_FILE('/etc/passwd')

LOAD DATA INFILE '/tmp/x' INTO TABLE log (msg)

LOAD DATA LOCAL INFILE '/tmp/x' INTO TABLE log (msg) SET msg = (SELECT ssn FROM employee LIMIT 1)

LOAD XML INFILE '/tmp/x' INTO TABLE log

SELECT name FROM dept PROCEDURE ANALYSE()

SELECT ssn FROM employee PROCEDURE ANALYSE(10, 2000)

(SELECT ssn FROM employee) UNION (SELECT 1) PROCEDURE ANALYSE()

HANDLER employee OPEN
HANDLER employee READ FIRST

HANDLER employee OPEN AS h
HANDLER h READ uq_ssn FIRST

-- routines and dynamic SQL
SELECT tax(1)

SELECT hr.tax(1)

SELECT upper2(ssn) FROM employee

SELECT name FROM dept WHERE tax(id) > '5'

CALL show_all()

CALL hr.into_out(@x)
SELECT @x

PREPARE s FROM 'SELECT ssn FROM employee'
EXECUTE s

PREPARE s FROM "SELECT 1"
EXECUTE s

SET @q = 'SELECT ssn FROM employee'
PREPARE s FROM @q

EXECUTE IMMEDIATE 'SELECT ssn FROM employee'

EXECUTE IMMEDIATE CONCAT('SELECT ', 'ssn FROM employee')

BEGIN NOT ATOMIC SELECT ssn FROM employee; END

IF (SELECT ssn FROM employee LIMIT 1) > '5' THEN SELECT 1; END IF

CREATE FUNCTION hr.fx() RETURNS INT RETURN 1

CREATE PROCEDURE hr.px() SELECT 1

CREATE TRIGGER hr.tx BEFORE INSERT ON log FOR EACH ROW SET NEW.msg = (SELECT ssn FROM employee LIMIT 1)

CREATE EVENT hr.ex ON SCHEDULE EVERY 1 DAY DO INSERT INTO log (msg) SELECT ssn FROM employee

CREATE VIEW hr.vx AS SELECT ssn AS name FROM employee

CREATE OR REPLACE VIEW v_hide AS SELECT id, 1 AS label, 2 AS n FROM dept

ALTER VIEW v_hide AS SELECT 1

UPDATE noisy SET a = 1 WHERE id = 1
SELECT b FROM noisy

INSERT INTO noisy VALUES (1, 1, 'q') ON DUPLICATE KEY UPDATE a = 2
SELECT b FROM noisy

INSERT INTO plainly (id, a, b) VALUES (9, 1, 'fine')
SELECT msg FROM log

INSERT INTO plainly (id, a, b) SELECT 10 + id, 1, ssn FROM employee
SELECT msg FROM log

-- writes
INSERT INTO plainly (id, b) VALUES (1, (SELECT ssn FROM employee LIMIT 1)) ON DUPLICATE KEY UPDATE b = VALUES(b)

INSERT INTO plainly (id, a) VALUES (1, 5) ON DUPLICATE KEY UPDATE b = (SELECT ssn FROM employee WHERE id = VALUES(a))

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') ON DUPLICATE KEY UPDATE name = CONCAT(ssn, VALUES(ssn))

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') ON DUPLICATE KEY UPDATE name = VALUES(ssn)

INSERT INTO employee (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE bonus = IF(ssn > '5', 1, 2)

INSERT INTO employee (id, name) VALUES (1, 'x') ON DUPLICATE KEY UPDATE id = IF(ssn > '5', 100, 200)

INSERT INTO employee (id, name, ssn) SELECT 50, 'x', ssn FROM employee WHERE id = 1 ON DUPLICATE KEY UPDATE name = employee.ssn

INSERT INTO log (msg) SELECT name FROM employee WHERE ssn > '5'
SELECT COUNT(*) FROM log

INSERT INTO log (msg) SELECT 'x' FROM employee WHERE salary BETWEEN 90000 AND 100000

INSERT INTO log (msg) SELECT name FROM employee ORDER BY ssn LIMIT 1
SELECT msg FROM log

INSERT INTO log (msg) SELECT DISTINCT LEFT(ssn, 0) FROM employee

REPLACE INTO employee (id, name, ssn) VALUES (50, 'x', '721-07-4426')
SELECT id FROM employee

REPLACE INTO log (id, msg) SELECT FLOOR(salary), 'x' FROM employee

REPLACE INTO employee SELECT * FROM employee WHERE id = 1

INSERT INTO employee SET id = 60, name = 'x', ssn = name, hired = ssn

INSERT INTO employee (id, name, ssn) VALUES (61, 'a', 'b') RETURNING ssn, name, CONCAT(ssn)

INSERT INTO log (msg) VALUES ('x') RETURNING (SELECT ssn FROM employee LIMIT 1)

INSERT INTO log (msg) VALUES ('x') RETURNING id + (SELECT ssn > '5' FROM employee LIMIT 1)

REPLACE INTO employee (id, name, ssn) VALUES (1, 'n', 'm') RETURNING *

DELETE FROM employee WHERE id = 1 RETURNING CONCAT(ssn), name

DELETE FROM dept RETURNING budget IS NULL, budget > 1000000

UPDATE employee SET hired = ssn

UPDATE employee e, dept d SET d.name = e.ssn WHERE e.dept_id = d.id

UPDATE employee e JOIN plainly p ON p.id = e.id SET p.a = e.salary

UPDATE employee e JOIN plainly p ON p.id = e.id SET p.a = 1 WHERE e.salary > 90000

UPDATE plainly SET b = 'hit' ORDER BY (SELECT salary FROM employee e WHERE e.id = plainly.id) LIMIT 1
SELECT id FROM plainly WHERE b = 'hit'

UPDATE employee SET bonus = 7 ORDER BY ssn LIMIT 1
SELECT id FROM employee WHERE bonus = 7

DELETE FROM employee ORDER BY salary DESC LIMIT 1
SELECT id FROM employee

DELETE e, d FROM employee e JOIN dept d ON d.id = e.dept_id WHERE e.ssn > '5'

DELETE FROM dept USING dept, employee WHERE dept.id = employee.dept_id AND employee.salary > 90000

DELETE d FROM dept d LEFT JOIN employee e ON e.dept_id = d.id AND e.ssn > '5' WHERE e.id IS NULL

UPDATE v_hide SET label = 'x' WHERE id = 1

UPDATE v_hide SET n = 1 WHERE id = 1

UPDATE v_chk SET salary = 1 WHERE id = 1

INSERT INTO v_chk (id, name, salary) VALUES (70, 'x', 1)

DELETE FROM v_chk WHERE id = 1

UPDATE plainly SET at = DEFAULT, b = (SELECT name FROM dept WHERE budget > 1000000 LIMIT 1)

UPDATE child SET id = (SELECT CRC32(code) FROM parent LIMIT 1)

INSERT INTO plainly (id, b) SELECT 30, code FROM child WHERE id = 1

UPDATE parent SET code = 'new' WHERE name = 'Ann'
SELECT code FROM child

UPDATE parent SET name = (SELECT code FROM child WHERE id = 1)

TRUNCATE employee

LOCK TABLES employee READ, log AS l WRITE
SELECT ssn FROM employee
UNLOCK TABLES

LOCK TABLES mysql.user READ

LOCK TABLES employee READ; SELECT 1

SELECT CHECKSUM FROM information_schema.TABLES WHERE TABLE_NAME = 'ft'

SELECT * FROM information_schema.TABLES WHERE TABLE_NAME = 'seq_1_to_9'

SELECT SEQ_1_TO_3.seq FROM SEQ_1_TO_3

INSERT INTO seq_1_to_3 VALUES (1)

WITH seq_1_to_3 AS (SELECT ssn AS seq FROM employee) SELECT seq FROM seq_1_to_3

UPDATE t_new SET a = 1 WHERE id = 1
SELECT * FROM log

UPDATE t_new SET ssn = 'x' WHERE id = 1
SELECT at FROM t_new

UPDATE t_old SET ssn = 'x' WHERE id = 1

INSERT INTO t_quoted (id, ssn) VALUES (9, 'x')
SELECT * FROM log

-- expressions
SELECT IF(ssn > '5', 'big', 'small') FROM employee

SELECT CASE ssn WHEN '721-07-4426' THEN 1 ELSE 2 END FROM employee

SELECT CASE id WHEN 1 THEN 'x' ELSE ssn END FROM employee

SELECT COALESCE(NULL, ssn), IFNULL(NULL, salary), NVL(notes, 1), NVL2(ssn, 1, 2) FROM employee

SELECT NULLIF(1, salary > 90000) FROM employee

SELECT NULLIF(ssn, '721-07-4426') IS NULL FROM employee

SELECT ISNULL(NULLIF(ssn, '721-07-4426')) FROM employee

SELECT ssn LIKE '7%' ESCAPE '|', ssn REGEXP '^7', ssn RLIKE '7', NOT ssn LIKE '7%' FROM employee

SELECT 'x' LIKE ssn, 'a' REGEXP ssn FROM employee

SELECT ssn SOUNDS LIKE 'x' FROM employee

SELECT STRCMP(ssn, '5'), FIELD(ssn, 'a', '721-07-4426'), FIND_IN_SET('x', ssn), INTERVAL(salary, 1, 90000), ELT(salary > 90000, 'a'), LOCATE('7', ssn), ssn BETWEEN 'a' AND 'b' FROM employee

SELECT ssn IN ('721-07-4426'), (ssn, 1) IN (('721-07-4426', 1)), ROW(ssn, id) = ROW('x', 1), ssn <=> NULL, ssn = ANY (SELECT 'x'), ssn <> ALL (SELECT 'y') FROM employee

SELECT '721-07-4426' IN (SELECT ssn FROM employee), EXISTS (SELECT 1 FROM employee WHERE ssn > '5'), (1, '721-07-4426') IN (SELECT id, ssn FROM employee)

SELECT name FROM dept WHERE 'x' IN (SELECT ssn FROM employee)

SELECT name FROM dept WHERE ('721-07-4426', id) IN (SELECT ssn, id FROM employee)

SELECT name FROM dept WHERE id = ANY (SELECT salary > 90000 FROM employee)

SELECT name FROM dept WHERE EXISTS (SELECT * FROM employee HAVING MAX(salary) > 90000)

SELECT name FROM dept WHERE (SELECT COUNT(*) FROM employee WHERE ssn LIKE '7%')

SELECT COUNT(*) FROM employee WHERE salary > 90000

SELECT COUNT(IF(ssn > '5', 1, NULL)), SUM(ssn > '5'), COUNT(ssn OR NULL), COUNT(DISTINCT LEFT(ssn, 1)), COUNT(DISTINCT ssn, id) FROM employee

SELECT MIN(id) FROM employee GROUP BY salary > 90000

SELECT dept_id, ANY_VALUE(name) FROM employee GROUP BY dept_id HAVING SUM(salary) > 100000

SELECT GROUP_CONCAT(id ORDER BY salary), GROUP_CONCAT(name ORDER BY ssn SEPARATOR '|') FROM employee

SELECT GROUP_CONCAT(DISTINCT ssn ORDER BY 1 LIMIT 1), JSON_ARRAYAGG(ssn), JSON_OBJECTAGG(id, ssn), JSON_OBJECTAGG(ssn, id) FROM employee

SELECT FIRST_VALUE(id) OVER (ORDER BY salary), NTH_VALUE(name, 2) OVER (ORDER BY ssn), NTILE(2) OVER (ORDER BY salary), LEAD(id, 1) OVER (ORDER BY ssn) FROM employee

SELECT LAG(ssn) OVER (ORDER BY id), LEAD(name, 1, ssn) OVER (ORDER BY id), COUNT(*) OVER (PARTITION BY salary > 90000), SUM(1) OVER (ORDER BY ssn) FROM employee

SELECT id, SUM(1) OVER (ORDER BY salary RANGE BETWEEN 10000 PRECEDING AND CURRENT ROW) FROM employee

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) OVER (), MEDIAN(salary) OVER (PARTITION BY id) FROM employee

SELECT id FROM (SELECT id, RANK() OVER (ORDER BY salary) r FROM employee) q WHERE r = 1

SELECT HEX(ssn), UNHEX(HEX(ssn)), TO_BASE64(ssn), AES_ENCRYPT(ssn, 'k'), AES_DECRYPT(AES_ENCRYPT(ssn, 'k'), 'k'), COMPRESS(notes), ENCODE(ssn, 'k'), DES_ENCRYPT(ssn) FROM employee

SELECT AES_DECRYPT(UNHEX('00'), ssn) IS NULL, AES_ENCRYPT('x', ssn) FROM employee

SELECT CAST(ssn AS BINARY), CONVERT(ssn, CHAR(3)), CONVERT(ssn USING latin1), BINARY ssn, ssn COLLATE utf8mb4_bin, _binary'x' < ssn FROM employee

SELECT CHARSET(ssn), COLLATION(ssn), COERCIBILITY(ssn), CHARSET(CONCAT(ssn)) FROM employee

SELECT WEIGHT_STRING(ssn), SOUNDEX(name), BIT_LENGTH(ssn), CHAR_LENGTH(ssn), ORD(ssn), CRC32(ssn), MD5(ssn), SHA2(ssn, 256) FROM employee

SELECT INTERVAL salary SECOND + NOW() IS NULL, DATE_ADD('2020-01-01', INTERVAL FLOOR(salary) DAY), '2020-01-01' + INTERVAL salary MINUTE, TIMESTAMPADD(DAY, salary, '2020-01-01') FROM employee

SELECT RAND(salary), FORMAT(salary, 2), CONV(salary, 10, 36), BIN(salary), CHAR(salary % 256), MAKE_SET(salary, 'a', 'b'), EXPORT_SET(salary, 'Y', 'N') FROM employee

SELECT REPEAT('x', salary / 1000), SPACE(salary / 1000), LPAD('', salary / 1000, 'x'), INSERT('abc', salary % 3, 1, 'z'), SUBSTRING_INDEX(ssn, '-', 1), SUBSTRING(ssn FROM 1 FOR 2), MID(ssn, 1, 2), TRIM(LEADING '7' FROM ssn) FROM employee

SELECT MATCH (notes) AGAINST ('zebra') FROM ft

SELECT id FROM ft WHERE MATCH (notes) AGAINST ('zebra')

SELECT id FROM ft WHERE MATCH (notes, body) AGAINST ('+zebra*' IN BOOLEAN MODE)

SELECT id, MATCH (notes, body) AGAINST ('open') s FROM ft ORDER BY s

SELECT JSON_EXTRACT(doc, '$.ssn'), JSON_VALUE(doc, '$.ssn'), JSON_QUERY(doc, '$'), JSON_KEYS(doc), JSON_LENGTH(doc), JSON_SEARCH(doc, 'one', '7%'), JSON_CONTAINS(doc, '"721-07-4426"', '$.ssn') FROM js

SELECT JSON_EXTRACT(pub, CONCAT('$.', IF(JSON_VALUE(doc, '$.ssn') > '5', 'a', 'b'))) FROM js

SELECT JSON_EXISTS(doc, '$.ssn'), JSON_TYPE(doc), JSON_VALID(doc), JSON_DEPTH(doc), JSON_MERGE(pub, doc), JSON_SET(pub, '$.b', doc), JSON_OBJECT(doc, 1), JSON_ARRAY(doc) FROM js

SELECT t.* FROM js, JSON_TABLE(doc, '$.n[*]' COLUMNS (o FOR ORDINALITY, v DECIMAL(10,2) PATH '$')) t

SELECT t.o FROM js, JSON_TABLE(JSON_ARRAY(1, doc), '$[*]' COLUMNS (o FOR ORDINALITY, v INT EXISTS PATH '$.ssn')) t

SELECT t.a FROM JSON_TABLE((SELECT JSON_ARRAYAGG(ssn) FROM employee), '$[*]' COLUMNS (a VARCHAR(20) PATH '$')) t

SELECT t.v FROM js, JSON_TABLE(pub, '$' COLUMNS (v INT PATH '$.a')) t

SELECT doc->'$.ssn', doc->>'$.ssn' FROM js

SELECT COLUMN_GET(attrs, 'ssn' AS CHAR), COLUMN_JSON(attrs), COLUMN_LIST(attrs), COLUMN_EXISTS(attrs, 'ssn'), COLUMN_CHECK(attrs) FROM dyn

SELECT COLUMN_GET(free, 'a' AS INT), COLUMN_JSON(COLUMN_ADD(free, 'z', attrs)) FROM dyn

SELECT ST_ASTEXT(place), ST_ASWKB(place), ST_SRID(place) FROM geo

SELECT X(place), ST_X(place), ST_DISTANCE(place, POINT(0, 0)), MBRCONTAINS(place, place) FROM geo

SELECT ST_GEOMFROMTEXT((SELECT ssn FROM employee LIMIT 1)), POLYGON((SELECT ssn FROM employee LIMIT 1)), LINESTRING(ssn, ssn) FROM employee

SELECT id FROM geo WHERE ST_X(place) > 80000

SELECT id FROM geo WHERE MBRCONTAINS(ST_GEOMFROMTEXT('POLYGON((90000 0,99999 0,99999 9,90000 9,90000 0))'), place)

SELECT EXTRACTVALUE(CONCAT('<a>', ssn, '</a>'), '/a'), EXTRACTVALUE('<a/>', ssn) FROM employee

SELECT XMLTYPE(ssn) FROM employee

-- queries
SELECT label, n FROM v_hide

SELECT innocent FROM v_nest

SELECT * FROM v_all

SELECT total, n FROM v_sum

SELECT x FROM v_both

SELECT s FROM v_cte

SELECT who FROM v_sub

SELECT t FROM v_fun

SELECT id FROM v_chk

SELECT ssn FROM ver FOR SYSTEM_TIME ALL

SELECT name, ssn FROM ver FOR SYSTEM_TIME AS OF TIMESTAMP '2037-01-01 00:00:00'

SELECT id FROM ver FOR SYSTEM_TIME AS OF (SELECT FROM_UNIXTIME(salary) FROM employee LIMIT 1)

SELECT COUNT(*) FROM ver FOR SYSTEM_TIME BETWEEN '1980-01-01' AND NOW() WHERE ssn = '721-07-4426'

DELETE HISTORY FROM ver

SELECT ROW_START > 0 FROM ver

SELECT COUNT(*) FROM ver FOR SYSTEM_TIME ALL GROUP BY id

WITH q AS (SELECT ssn AS name FROM employee) SELECT name FROM q

WITH employee AS (SELECT 1 AS ssn) SELECT ssn FROM employee

WITH Employee AS (SELECT 1 AS ssn) SELECT ssn FROM employee

WITH employee AS (SELECT ssn FROM employee) SELECT ssn FROM employee

WITH employee AS (SELECT 1 AS ssn) SELECT ssn FROM hr.employee

WITH RECURSIVE q (a, b) AS (SELECT 1, 'x' UNION ALL SELECT a + 1, (SELECT ssn FROM employee WHERE id = a) FROM q WHERE a < 4) SELECT b FROM q

WITH RECURSIVE q (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < (SELECT LENGTH(ssn) FROM employee WHERE id = 1)) SELECT n FROM q

WITH RECURSIVE q (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM q WHERE n < 100) SELECT n FROM q WHERE n = (SELECT FLOOR(salary / 1000) FROM employee WHERE id = 1)

WITH RECURSIVE q AS (SELECT 1 AS n, CAST('' AS CHAR(20)) AS s UNION SELECT n + 1, CONCAT(s, (SELECT SUBSTR(ssn, n, 1) FROM employee WHERE id = 1)) FROM q WHERE n < 12) CYCLE n RESTRICT SELECT s FROM q

SELECT 'a' UNION SELECT ssn FROM employee

SELECT 1, 2 UNION ALL SELECT salary, ssn FROM employee

(SELECT name FROM dept) UNION ALL (SELECT ssn FROM employee ORDER BY 1 LIMIT 1) ORDER BY 1

SELECT name FROM employee EXCEPT SELECT name FROM employee WHERE ssn > '5'

SELECT ssn FROM employee INTERSECT SELECT '721-07-4426'

SELECT '721-07-4426' INTERSECT SELECT ssn FROM employee

SELECT 'x' EXCEPT ALL SELECT IF(ssn > '5', 'x', 'y') FROM employee

VALUES ('a', 1), ((SELECT ssn FROM employee LIMIT 1), 2)

TABLE employee

SELECT * FROM (VALUES (1, 2), (3, (SELECT salary FROM employee LIMIT 1))) v

SELECT * FROM employee e NATURAL JOIN pub.employee

SELECT * FROM hr.employee NATURAL LEFT JOIN pub.employee

SELECT e.name FROM employee e JOIN pub.employee p USING (ssn)

SELECT d.name FROM dept d RIGHT JOIN employee e USING (name)

SELECT * FROM employee e RIGHT JOIN dept d USING (name, id)

SELECT q.ssn FROM (SELECT name AS ssn, ssn AS name FROM employee) q

SELECT q.* FROM (SELECT *, 1 AS one FROM dept) q

SELECT q.a FROM (SELECT 1 AS b, ssn FROM employee) q (b, a)

SELECT (SELECT (SELECT (SELECT ssn))) FROM employee

SELECT (SELECT name FROM (SELECT ssn AS name) z) FROM employee

SELECT (SELECT MAX(x) FROM (SELECT e.ssn AS x UNION SELECT 'a') z) FROM employee e

SELECT name, (SELECT COUNT(*) FROM employee f WHERE f.salary < e.salary) FROM employee e

SELECT name FROM employee e WHERE 1 = (SELECT COUNT(*) FROM employee f WHERE f.salary >= e.salary)

SELECT name FROM employee LIMIT 1 OFFSET 2

SELECT name FROM employee LIMIT (SELECT 1)

SELECT name FROM employee ORDER BY ssn = '721-07-4426' DESC LIMIT 1

SELECT name FROM employee ORDER BY IF(ssn > '5', id, -id)

SELECT DISTINCT dept_id FROM employee ORDER BY MAX(salary) OVER (PARTITION BY dept_id)

SELECT ssn name FROM employee GROUP BY name

SELECT name AS ssn, ssn AS id FROM employee HAVING id > '5'

SELECT id AS ssn FROM employee WHERE ssn > '5'

SELECT 1 AS x FROM employee ORDER BY (SELECT ssn), x

SELECT dept_id FROM employee GROUP BY dept_id WITH ROLLUP HAVING MAX(ssn) > '5'

SELECT name FROM employee FETCH FIRST 1 ROWS WITH TIES

SELECT name FROM employee ORDER BY salary FETCH FIRST 1 ROWS ONLY

SELECT name FROM employee LIMIT ROWS EXAMINED 2

SELECT name FROM employee WHERE ssn > '5' LIMIT ROWS EXAMINED 1

SELECT name FROM employee FOR UPDATE SKIP LOCKED

SELECT STRAIGHT_JOIN SQL_SMALL_RESULT SQL_NO_CACHE HIGH_PRIORITY ssn FROM employee

SELECT ALL ssn FROM employee

SELECT DISTINCTROW ssn FROM employee

SELECT ssn FROM employee e FOR SHARE

SELECT ssn FROM { OJ employee LEFT JOIN dept ON 1 }

SELECT {fn CONCAT(ssn)}, {d '2020-01-01'}, {x ssn} FROM employee

SELECT ssn FROM (employee)

SELECT a.ssn FROM (employee AS a, (dept AS b))

SELECT ssn FROM employee PARTITION ()

-- lexing
SELECT /*!ssn*/ FROM employee

SELECT /*!50000 ssn, */ name FROM employee

SELECT /*M!100000 ssn, */ name FROM employee

SELECT /*M!999999 name -- */ ssn FROM employee

SELECT name /*! FROM dept -- */ FROM employee

SELECT 'a' /*!50701 , ssn */ FROM employee

SELECT name --1 FROM employee

SELECT "ssn" FROM employee

SET sql_mode = 'ANSI_QUOTES'
SELECT "ssn", 'ssn' FROM employee
SELECT "ssn" FROM "employee" WHERE 'a''b' <> "name"

SET sql_mode = 'NO_BACKSLASH_ESCAPES'
SELECT '\', ssn, ' FROM employee WHERE ''' FROM employee
SELECT '\\', ssn FROM employee

SET sql_mode = 'PIPES_AS_CONCAT'
SELECT 'a' || ssn || 'b' FROM employee
SELECT name FROM dept WHERE 'a' || (SELECT ssn FROM employee LIMIT 1) > 'a5'

SET sql_mode = ''
SELECT 'a' || ssn FROM employee

SET sql_mode = 'HIGH_NOT_PRECEDENCE'
SELECT NOT ssn BETWEEN 'a' AND 'b' FROM employee

SET sql_mode = 'IGNORE_SPACE'
SELECT CONCAT (ssn) FROM employee

SET sql_mode = 'ORACLE'
SELECT ssn FROM employee

SET sql_mode = 'MSSQL'
SELECT [ssn] FROM employee

SET sql_mode = 'EMPTY_STRING_IS_NULL'
SELECT '' IS NULL, ssn FROM employee

SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,REAL_AS_FLOAT,NO_ZERO_DATE'
SELECT CAST(ssn AS CHAR(30)) FROM employee

SET NAMES gbk
SELECT ssn FROM employee

SET NAMES latin1
SELECT 'é', ssn FROM employee

SET character_set_client = sjis
SELECT ssn FROM employee

SET character_set_connection = ucs2
SELECT 'ssn', CONCAT(ssn, 'x') FROM employee

SET character_set_results = utf16
SELECT ssn FROM employee

SET character_set_results = NULL
SELECT ssn, name FROM employee

SELECT _latin1'x' 'y', _utf8mb4 0x41, _binary'ssn', N'n', ssn FROM employee

SELECT _gbk'\xbf\', ssn, '' FROM employee

SELECT X'41', 0x41, B'1', b'01', x'41' + ssn FROM employee

SELECT 1.e.ssn FROM employee e

SELECT 1e1.ssn FROM employee e

SELECT e.`ssn`, e . ssn, e./**/ssn FROM employee e

SELECT employee.ssn, name FROM employee; SELECT 1

SELECT 1; SELECT ssn FROM employee

SELECT name FROM dept DELIMITER //

\! ls

SELECT ssn\G

-- transactions and the like
SAVEPOINT `ssn`
ROLLBACK TO `ssn`

SAVEPOINT x
UPDATE plainly SET b = 'z'
ROLLBACK TO y

XA START 'a'

XA RECOVER

BACKUP STAGE START

FLUSH TABLES

RESET QUERY CACHE

INSTALL SONAME 'x'

SHUTDOWN

CHANGE MASTER TO MASTER_HOST = 'x'

PURGE BINARY LOGS TO 'x'

GRANT SELECT ON hr.* TO app

REVOKE ALL ON hr.* FROM app

CREATE USER x

DROP TABLE employee

RENAME TABLE employee TO staff

ALTER TABLE employee CHANGE ssn tax VARCHAR(11)

ALTER TABLE employee RENAME staff

CREATE INDEX i ON employee (ssn)

CREATE TABLE t2 (x VARCHAR(11) REFERENCES parent (code))

CREATE TABLE t3 (id INT PRIMARY KEY, x VARCHAR(11), FOREIGN KEY (x) REFERENCES parent (code) ON UPDATE CASCADE)

ALTER TABLE log ADD FOREIGN KEY (msg) REFERENCES parent (code)

OPTIMIZE TABLE employee

HELP 'SELECT'

BINLOG 'x'

-- an alias seen from inside
SELECT ssn AS a, (SELECT a) FROM employee

SELECT name AS a, (SELECT MAX(a) FROM (SELECT ssn AS a FROM employee) z) FROM employee

SELECT (SELECT GROUP_CONCAT(e.ssn) FROM dept d WHERE d.id = e.dept_id) FROM employee e

SELECT 1 FROM employee GROUP BY (SELECT ssn)

SELECT name FROM employee WHERE ssn = (SELECT ssn)

SELECT name FROM employee WHERE ssn = '721-07-4426' AND 1 = 1

SELECT name FROM employee WHERE ssn IN ('721-07-4426', name)

SELECT name FROM employee WHERE ssn = '721-07-4426' COLLATE utf8mb4_general_ci

SELECT name FROM employee WHERE ssn <=> NULL

SELECT name FROM employee WHERE NOT (ssn IS NULL)

SELECT name FROM employee WHERE (ssn = '721-07-4426') = TRUE

SELECT name FROM employee WHERE ssn = '721-07-4426' IS TRUE

SELECT name FROM employee WHERE ssn = '721-07-4426' XOR id = 1

SELECT name FROM employee e LEFT JOIN dept d ON d.id = e.dept_id AND e.ssn > '5'

SELECT e.name, d.name FROM employee e LEFT JOIN dept d ON e.ssn = '721-07-4426'

SELECT salary MOD 10, salary DIV 1000, salary & 255, ~salary, salary << 1, -salary FROM employee

SELECT bonus / (salary - 91357.25) IS NULL FROM employee

SELECT name FROM employee WHERE bonus / (salary - 91357.25) IS NULL

SELECT MAX(id) FROM employee WHERE ssn > ''

SELECT BIT_XOR(CRC32(ssn)), STD(salary), VARIANCE(salary), AVG(salary), SUM(salary) FROM employee

SELECT COUNT(*) OVER (), name FROM employee WHERE salary < 90000

SELECT ROW_NUMBER() OVER (), id FROM employee ORDER BY salary

SELECT UUID_SHORT() > salary, CONNECTION_ID() + salary, IFNULL(@@version, ssn), CONCAT(USER(), ssn) FROM employee
