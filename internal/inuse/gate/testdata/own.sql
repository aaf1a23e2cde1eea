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

SELECT ssn + 0 FROM employee
SHOW VARIABLES WHERE Variable_name = 'x') OR (Variable_name = 'warning_count'

SHOW VARIABLES WHERE (Variable_name = 'x') OR (Variable_name IN ('warning_count', 'error_count')

SHOW VARIABLES WHERE 0) OR (Variable_name = 'last_insert_id'

SHOW VARIABLES WHERE

SHOW VARIABLES WHERE Variable_name = 'warning\n_count'

SHOW VARIABLES WHERE Variable_name = 'warning\_count' OR Variable_name = 'x'

SHOW STATUS LIKE 'open\n_%'

SHOW STATUS LIKE 'wsrep_last_committed'

SHOW STATUS LIKE 'wsrep_%'

SET STATEMENT lock_wait_timeout = 5 FOR SET sql_mode = 'ANSI_QUOTES'
SELECT "ssn", name FROM employee

SET STATEMENT lock_wait_timeout = 5 FOR USE pub
SELECT ssn FROM employee
SELECT ssn FROM hr.employee

SET STATEMENT lock_wait_timeout = 5 FOR SHOW VARIABLES WHERE 0) OR (1

SET sql_auto_is_null = 1

SET session_track_system_variables = warning_count
SELECT ssn + 0 FROM employee
SET sql_notes = 0

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

SELECT id, name FROM employee USE INDEX (k_dept) LIMIT 2

SELECT id, name FROM employee FORCE INDEX (k_dept, uq_ssn) LIMIT 2

SELECT id, name FROM employee IGNORE INDEX (PRIMARY, k_dept) LIMIT 2

SELECT id, name FROM employee USE INDEX FOR JOIN (k_dept) IGNORE INDEX FOR ORDER BY (PRIMARY) LIMIT 2

UPDATE employee USE INDEX (uq_ssn) SET name = 'x' LIMIT 1
SELECT id, name FROM employee ORDER BY id

SELECT id FROM hashed USE INDEX (h) LIMIT 1

SELECT e.id FROM employee e USE INDEX (PRIMARY) LIMIT 2

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

SET @v = 'gbk'
SET character_set_client = @v
SELECT ssn AS 'x' FROM employee

SET @v = 'ucs2'
SET character_set_results = @v
SELECT ssn, name FROM employee

SET @v = 'ANSI_QUOTES'
SET sql_mode = @v
SELECT "ssn", "name" FROM employee

SET @v = 'NO_BACKSLASH_ESCAPES'
SET sql_mode = @v
SELECT '\', ssn, ' FROM employee

SET @v = 'ORACLE'
SET sql_mode = @v
SELECT ssn || name FROM employee

SET collation_connection = 28*1

SET character_set_client = 28*1

CHECK TABLE employee EXTENDED

OPTIMIZE TABLE log, employee

CHECK TABLE child, loser

COMMIT RELEASE

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

CREATE TABLE t2 (x VARCHAR(11), FOREIGN KEY (x) REFERENCES hr.employee (ssn))

CREATE TABLE t2 (x INT REFERENCES employee)

CREATE TABLE t2 (x INT, FOREIGN KEY (x) REFERENCES v_plain (x))

CREATE TABLE t2 (x INT CHECK (tax_of(x) > 1), CHECK (employee.ssn > 'x'))

CREATE TABLE t2 (x INT, FOREIGN KEY (x) REFERENCES employee (id))
INSERT IGNORE INTO t2 SELECT seq FROM seq_1_to_9
SELECT x FROM t2

CREATE TABLE t2 LIKE hashed

CREATE TABLE t2 LIKE v_plain

CREATE TABLE t2 LIKE log
SHOW CREATE TABLE t2
INSERT INTO t2 (msg) SELECT ssn FROM employee

CREATE TEMPORARY TABLE t2 LIKE log
INSERT INTO t2 (msg) SELECT ssn FROM employee
SELECT * FROM t2

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

-- NULL, descriptions of results, and much else
SELECT CONV('5', 10, salary - 77220) FROM employee WHERE id = 1

SELECT CONV('1', salary - 77220, 10) FROM employee WHERE id = 1

SELECT LAG(1, FLOOR(salary - 77231)) OVER (ORDER BY id) FROM employee

SELECT LEAD('x', CAST(salary - 77231 AS INT)) OVER (ORDER BY id) FROM employee

SELECT NTH_VALUE(id, CAST(salary - 77229 AS INT)) OVER (ORDER BY id) FROM employee

SELECT ADDDATE(ssn, 1) FROM employee

SELECT ADDDATE(CONCAT('2001-02-', LEFT(ssn, 2)), 1) FROM employee

SELECT CAST(CONCAT('2001-02-', LEFT(ssn, 2)) AS DATE) FROM employee

SELECT CONVERT(CONCAT('2001-02-', LEFT(ssn, 2)), DATE) FROM employee

SELECT CAST(CONCAT('23:', SUBSTR(ssn, 5, 2), ':', LEFT(ssn, 2)) AS TIME), TIMESTAMP(CONCAT('2001-02-', LEFT(ssn, 2))), DATE(CONCAT('2001-02-', LEFT(ssn, 2))) FROM employee

SELECT CAST(CONCAT('1.2.3.', LEFT(ssn, 3)) AS INET4) FROM employee

SELECT CAST(CONCAT('::', LEFT(ssn, 1), ':', REPLACE(LEFT(ssn, 1), '7', 'g')) AS INET6) FROM employee

SELECT ST_ASTEXT(CONCAT(x'0000000001', REPLACE(LEFT(ssn, 1), '7', x'01'), x'000000', REPEAT(x'00', 16))) FROM employee

SELECT ST_SRID(CONCAT(x'0000000001', REPLACE(LEFT(ssn, 1), '7', x'01'), x'000000', REPEAT(x'00', 16))) FROM employee

SELECT ST_ASWKB(CONCAT(x'0000000001', REPLACE(LEFT(ssn, 1), '7', x'01'), x'000000', REPEAT(x'00', 16))) FROM employee

SELECT LPAD(TRIM(LEADING '7' FROM ssn), 11, '') FROM employee

SELECT RPAD(TRIM(LEADING '7' FROM ssn), 11, '') FROM employee

SELECT CASE WHEN 0 THEN 1 WHEN salary > 80000 THEN NULL ELSE 1 END FROM employee

SELECT CASE id WHEN 9 THEN 1 WHEN salary - 91356.25 THEN NULL ELSE 1 END FROM employee

SELECT CASE WHEN id > 9 THEN 1 WHEN salary > 80000 THEN 2 END FROM employee

SELECT DATE_SUB(day, INTERVAL 1978 YEAR) FROM born

SELECT DATE_ADD(day, INTERVAL 7985 YEAR), day + INTERVAL 8000 YEAR, ADDDATE(day, INTERVAL 7999 YEAR) FROM born

SELECT day + INTERVAL 2915000 DAY, day - INTERVAL 730000 DAY FROM born

SELECT DATE_ADD(day, INTERVAL 2920000 DAY), ADDDATE(day, 2920000), SUBDATE(day, 730000) FROM born

SELECT UNIX_TIMESTAMP(at), TIMESTAMPADD(YEAR, 7990, day), UNIX_TIMESTAMP(DATE_ADD(at, INTERVAL 40 YEAR)) FROM born

SELECT LAST_DAY(DATE_ADD(day, INTERVAL 7990 YEAR)), TIME(at), DATE_FORMAT(day, '%X%V'), YEARWEEK(day) FROM born

SELECT JSON_QUOTE(ssn), JSON_QUOTE(salary), JSON_OBJECT(ssn, 1), JSON_ARRAY(ssn) FROM employee

SELECT FORMAT(salary, salary), FORMAT(1, 2, ssn), REGEXP_REPLACE('a', ssn, 'b'), REPLACE(ssn, LEFT(ssn, 1), ''), EXP(salary - 80000) FROM employee WHERE id = 1

SELECT REGEXP_REPLACE(CONCAT(ssn, REPEAT('a', 3000)), '^7.*(a+)+b', '') FROM employee WHERE id = 1

SELECT CONCAT(ssn, REPEAT('a', 3000)) REGEXP '^7.*(a+)+b' FROM employee WHERE id = 1

SELECT GREATEST(ssn, salary), LEAST(ssn, hired), GREATEST(hired, CONCAT('2001-02-', LEFT(ssn, 2))) FROM employee

SELECT hired = CONCAT('2001-02-', LEFT(ssn, 2)), hired < ssn, hired IN (ssn, '2001-01-01'), hired BETWEEN ssn AND '2020-01-01' FROM employee

SELECT COALESCE(CAST(ssn AS DATE), hired), IFNULL(hired, ssn), IF(id, hired, ssn) FROM employee

SELECT IF(hired = ssn, hired, hired), MAX(CAST(ssn AS TIME)) FROM employee GROUP BY id

SELECT STRCMP(hired, ssn), FIELD(hired, ssn), LOCATE('a', hired, salary - 80000), SUBSTRING_INDEX(ssn, '-', salary), LEFT('abc', salary - 80000), SUBSTR('abc', salary - 80000) FROM employee

SELECT OCT(ssn), BIN(salary), ORD(ssn), POSITION('7' IN ssn), QUOTE(ssn), FIND_IN_SET(ssn, '1,2') FROM employee

SELECT WEIGHT_STRING(ssn), SHA2(ssn, 256), COMPRESS(ssn), CHR(salary) FROM employee

SELECT SUM(ssn), AVG(CAST(ssn AS DATE)), BIT_AND(salary), STDDEV_SAMP(salary), GROUP_CONCAT(IF(salary > 80000, NULL, 1)) FROM employee GROUP BY id

SELECT JSON_ARRAYAGG(IF(salary > 80000, NULL, 1)), JSON_OBJECTAGG(id, ssn), MEDIAN(salary) OVER (PARTITION BY id) FROM employee GROUP BY id

SELECT SUM(salary) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING), FIRST_VALUE(ssn) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) FROM employee

SHOW VARIABLES LIKE 'wárning_count'

SELECT IF(ssn > '8', ssn + 0, 0) FROM employee WHERE id = 1
SHOW VARIABLES LIKE 'wárning_count'

SELECT IF(ssn > '8', ssn + 0, 0) FROM employee WHERE id = 1
SHOW VARIABLES WHERE VARIABLE_NAME = 'wárning_count'

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
CREATE OR REPLACE TEMPORARY TABLE employee (id INT, id INT)
SELECT CONCAT(ssn, '') FROM employee
SELECT ssn FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
CREATE OR REPLACE TEMPORARY TABLE employee AS SELECT (SELECT id FROM dept) AS ssn
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
CREATE OR REPLACE TABLE employee (id INT, ssn VARCHAR(11))
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
DROP TABLE employee
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
ROLLBACK
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE pub.employee (id INT, ssn VARCHAR(11))
SELECT CONCAT(ssn, '') FROM employee
SELECT CONCAT(ssn, '') FROM pub.employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
TRUNCATE TABLE employee
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
DROP TEMPORARY TABLE employee, dept
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY TABLE employee (id INT, ssn VARCHAR(11))
RENAME TABLE employee TO emp2
SELECT CONCAT(ssn, '') FROM employee

CREATE TEMPORARY SEQUENCE employee
SELECT CONCAT(ssn, '') FROM employee

UPDATE employee SET notes = IF(ssn > '8', CONCAT('r', id), 'same')
SELECT COUNT(DISTINCT notes) FROM employee

UPDATE employee SET salary = salary * 0.00001
SELECT COUNT(DISTINCT salary) FROM employee

UPDATE employee SET notes = LEFT(ssn, 1)
SELECT COUNT(DISTINCT notes) FROM employee

UPDATE employee SET notes = LEFT(ssn, 1)
SELECT DISTINCT notes FROM employee

INSERT INTO employee (id, name, ssn, notes) SELECT id + 10, name, CONCAT('x', id), ssn > '5' FROM employee
SELECT COUNT(DISTINCT notes) FROM employee

SELECT * FROM information_schema.COLUMN_STATS

SELECT TABLE_NAME, CHECKSUM, UPDATE_TIME IS NULL FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr'

SELECT PARTITION_NAME, TABLE_ROWS FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'hr' AND TABLE_NAME = 'part'

SELECT * FROM information_schema.PROFILING

SELECT * FROM information_schema.USER_VARIABLES

SELECT * FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME LIKE 'Handler%'

SELECT * FROM information_schema.INNODB_METRICS

SELECT * FROM information_schema.APPLICABLE_ROLES, information_schema.OPTIMIZER_TRACE

EXPLAIN FORMAT=JSON UPDATE employee SET name = 'x' WHERE ssn = '1'

DESC SELECT name FROM employee WHERE ssn > '5'

SELECT REPEAT('x', (SELECT FLOOR(salary / 1000) FROM employee WHERE id = 1))

SELECT ROUND(1.2345678, (SELECT salary > 80000 FROM employee WHERE id = 1)), LEFT('abcdef', (SELECT salary > 80000 FROM employee WHERE id = 1) + 1)

SELECT REPEAT('x', n) FROM (SELECT FLOOR(salary / 1000) n FROM employee WHERE id = 1) q

SELECT q.*, LPAD('x', n, 'y') FROM (SELECT FLOOR(salary / 1000) n FROM employee WHERE id = 1 GROUP BY id) q

SELECT name FROM employee WHERE ssn = ANY (VALUES ('721'), ('904'))

SELECT name FROM employee WHERE ssn = '7' || '2'

SELECT name FROM employee WHERE (ssn, salary) = ('a', 1)

SELECT name FROM employee WHERE (id, ssn) IN ((1, 'x'), (2, 'y'))

SELECT name FROM employee WHERE ssn = CAST('x' AS CHAR) COLLATE utf8mb4_general_ci

SELECT name FROM employee WHERE ssn = 'x' COLLATE utf8mb4_general_ci AND notes IS NOT NULL

SELECT name FROM employee WHERE salary = '9e4'

SELECT name FROM employee WHERE salary = TRUE

SELECT name FROM employee WHERE salary IN ('a', 'b')

SELECT name FROM employee WHERE ssn = DATE '2001-01-01'

SELECT name FROM employee WHERE ssn = TIMESTAMP '2001-01-01 00:00:00'

SELECT name FROM employee WHERE ssn = x'3732'

SELECT name FROM employee WHERE ssn = b'0110111'

SELECT name FROM employee WHERE ssn = 0x37

SELECT name FROM employee WHERE ssn = _binary '7'

SELECT name FROM employee WHERE ssn = @a

SELECT name FROM employee WHERE ssn = @@version

SELECT name FROM employee WHERE ssn = USER()

SELECT name FROM employee WHERE ssn = LAST_INSERT_ID()

SELECT name FROM employee WHERE ssn = FOUND_ROWS()

SELECT name FROM employee WHERE ssn = NOW()

SELECT name FROM employee WHERE ssn = JSON_VALUE('{"a":1}', '$.a')

SELECT name FROM employee WHERE ssn = IF(1, 720, 'x')

SELECT name FROM employee WHERE ssn = COALESCE(720, 'x')

SELECT name FROM employee WHERE ssn = GREATEST('a', 'b')

SELECT name FROM employee WHERE ssn = NULLIF('a', 'b')

SELECT name FROM employee WHERE ssn = CASE WHEN 1 THEN 'x' END

SELECT name FROM employee WHERE ssn BETWEEN '7' AND '7'

SELECT name FROM employee WHERE ssn <> 'x'

SELECT name FROM employee WHERE NOT ssn = 'x'

SELECT name FROM employee WHERE ssn NOT IN ('x')

SELECT name FROM employee WHERE ssn LIKE '721-07-4427'

SELECT name FROM employee WHERE ssn IS NOT NULL IS TRUE

SELECT name FROM employee WHERE ssn = 'x' = 0

SELECT name FROM employee WHERE ssn = ('x' AND 1)

SELECT name FROM employee WHERE ssn = ROW('x')

SELECT name FROM employee WHERE EXISTS (SELECT 1 FROM dept WHERE ssn = 'x')

SELECT name FROM employee WHERE id IN (SELECT id FROM employee WHERE ssn = 'x')

SELECT name FROM employee WHERE id NOT IN (SELECT id FROM employee WHERE ssn = 'x')

SELECT d.name FROM dept d WHERE NOT EXISTS (SELECT 1 FROM employee e WHERE e.dept_id = d.id AND e.ssn = 'y')

SELECT e.name FROM employee e LEFT JOIN dept d ON d.id = e.dept_id AND e.notes IS NULL WHERE d.id IS NULL

SELECT e.name FROM dept d LEFT JOIN employee e ON e.dept_id = d.id AND e.ssn IN ('x', 'y') WHERE e.id IS NULL

SELECT name FROM employee HAVING ssn = 'x'

SELECT name, ssn FROM employee HAVING ssn IS NOT NULL

SELECT dept_id, COUNT(ssn) c FROM employee GROUP BY dept_id HAVING c > 1

SELECT dept_id, MAX(ssn) m FROM employee GROUP BY dept_id HAVING m IS NOT NULL

SELECT dept_id FROM employee GROUP BY dept_id HAVING MAX(ssn) = MIN(ssn)

SELECT DISTINCT dept_id, ssn > '5' FROM employee

SELECT DISTINCT dept_id FROM employee WHERE ssn > '5'

SELECT DISTINCT a.ssn FROM employee a, employee b

SELECT COUNT(DISTINCT a.ssn, b.ssn) FROM employee a, employee b

SELECT COUNT(DISTINCT CONCAT(ssn, dept_id)) FROM employee

SELECT COUNT(DISTINCT ssn COLLATE utf8mb4_general_ci) FROM employee

SELECT COUNT(ssn = 'x') FROM employee

SELECT SUM(ssn IS NULL), SUM(notes IS NULL) FROM employee

SELECT ssn IS NULL OR salary > 80000 FROM employee

SELECT (ssn IS NULL) = (salary > 80000) FROM employee

SELECT COUNT(*) FILTER (WHERE salary > 80000) FROM employee

SELECT ssn FROM employee GROUP BY ssn WITH ROLLUP

SELECT id, ssn FROM employee GROUP BY id, ssn WITH ROLLUP

SELECT id, notes, COUNT(*) FROM employee GROUP BY notes, id WITH ROLLUP

SELECT ANY_VALUE(ssn), MIN(hired) FROM employee GROUP BY dept_id, ssn IS NULL

SELECT e.id, e.notes FROM employee e JOIN employee f ON 1 GROUP BY e.id, f.ssn

SELECT name FROM employee ORDER BY ssn IS NULL, name

SELECT name FROM employee ORDER BY notes IS NULL

SELECT name FROM employee ORDER BY -ssn

SELECT name, ssn x FROM employee ORDER BY x

SELECT name, ssn FROM employee ORDER BY 2

SELECT name, ssn FROM employee ORDER BY '2', 1

SELECT name, ssn FROM employee ORDER BY 1 + 1

SELECT name, ssn FROM employee UNION ALL SELECT name, ssn FROM employee ORDER BY 2

(SELECT name, ssn AS z FROM employee) UNION ALL (SELECT name, ssn FROM employee) ORDER BY z

(SELECT name FROM employee ORDER BY ssn LIMIT 1) UNION ALL SELECT 'z'

SELECT * FROM (SELECT name FROM employee ORDER BY salary LIMIT 1) q

SELECT (SELECT name FROM employee ORDER BY salary LIMIT 1)

SELECT name FROM dept WHERE id = (SELECT dept_id FROM employee ORDER BY salary DESC LIMIT 1)

SELECT name, RANK() OVER (ORDER BY id), DENSE_RANK() OVER (PARTITION BY ssn ORDER BY id) FROM employee

SELECT name, COUNT(*) OVER (PARTITION BY ssn) FROM employee

SELECT name, COUNT(ssn) OVER (ORDER BY id) FROM employee

SELECT SUM(bonus) OVER w, MAX(ssn) OVER w FROM employee WINDOW w AS (PARTITION BY dept_id ORDER BY id)

SELECT SUM(bonus) OVER (w ORDER BY ssn) FROM employee WINDOW w AS (PARTITION BY dept_id)

SELECT SUM(bonus) OVER w FROM employee WINDOW w AS (v ORDER BY id), v AS (PARTITION BY ssn)

SELECT PERCENT_RANK() OVER (ORDER BY salary), CUME_DIST() OVER (ORDER BY salary) FROM employee

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary) OVER (PARTITION BY dept_id) FROM employee

SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY id) OVER (PARTITION BY ssn) FROM employee

SELECT GROUP_CONCAT(DISTINCT name ORDER BY ssn) FROM employee

SELECT GROUP_CONCAT(name ORDER BY salary DESC LIMIT 1) FROM employee

SELECT GROUP_CONCAT(name SEPARATOR ',') FROM employee GROUP BY salary > 80000

SELECT JSON_ARRAYAGG(name ORDER BY salary) FROM employee

SELECT JSON_OBJECT('n', name, 's', ssn) FROM employee

SELECT JSON_OBJECTAGG(name, dept_id) FROM employee WHERE ssn IN ('a')

SELECT JSON_LENGTH(JSON_ARRAY(ssn)), JSON_TYPE(JSON_OBJECT('a', salary)), JSON_VALID(notes), JSON_DEPTH(JSON_ARRAY(notes)) FROM employee

SELECT COUNT(JSON_VALUE(JSON_OBJECT('a', ssn), '$.a')) FROM employee

SELECT j.a FROM employee e, JSON_TABLE(CONCAT('["', e.name, '"]'), '$[*]' COLUMNS (a VARCHAR(40) PATH '$')) j WHERE e.ssn IS NOT NULL

SELECT j.a FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j JOIN employee e ON e.salary = j.a

SELECT j.a, e.ssn FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (a INT PATH '$')) j JOIN employee e ON e.id = j.a

SELECT j.b FROM employee e, JSON_TABLE(JSON_OBJECT('a', e.ssn), '$' COLUMNS (NESTED PATH '$.a' COLUMNS (b VARCHAR(20) PATH '$'))) j

SELECT * FROM employee e, LATERAL (SELECT e.ssn AS z) q

SELECT q.z FROM employee e LEFT JOIN (SELECT ssn AS z, id FROM employee) q ON q.id = e.id

SELECT q.z IS NULL FROM employee e LEFT JOIN (SELECT ssn AS z, id FROM employee) q ON q.id = e.id

SELECT COUNT(q.z) FROM (SELECT IF(salary > 80000, NULL, 1) AS z FROM employee) q

SELECT COUNT(*) FROM (SELECT DISTINCT LEFT(ssn, 1) FROM employee) q

SELECT COUNT(*) FROM (SELECT ssn FROM employee GROUP BY ssn) q

SELECT COUNT(*) FROM (SELECT ssn FROM employee UNION SELECT notes FROM employee) q

SELECT COUNT(*) FROM (SELECT 1 FROM employee WHERE salary > 80000) q

SELECT COUNT(*) FROM (SELECT ssn FROM employee ORDER BY salary LIMIT 2) q WHERE ssn IS NOT NULL

SELECT q.id FROM (SELECT id, ssn FROM employee ORDER BY ssn LIMIT 1) q

WITH q AS (SELECT id FROM employee ORDER BY salary LIMIT 1) SELECT name FROM employee JOIN q USING (id)

WITH q AS (SELECT id, salary FROM employee) SELECT a.id FROM q a JOIN q b ON a.salary > b.salary

WITH RECURSIVE q AS (SELECT 1 n UNION ALL SELECT n + 1 FROM q JOIN employee e ON e.id = n WHERE e.salary > 80000) SELECT n FROM q

WITH RECURSIVE q AS (SELECT 1 n UNION ALL SELECT n + 1 FROM q WHERE n < 5), p AS (SELECT n, ssn FROM q JOIN employee ON id = n) SELECT n, ssn FROM p

WITH a AS (SELECT ssn FROM employee), b AS (SELECT ssn AS name FROM a), c AS (SELECT name FROM b UNION ALL SELECT name FROM dept) SELECT name FROM c

WITH dept AS (SELECT ssn AS name FROM employee) SELECT (SELECT MAX(name) FROM dept), (SELECT MAX(name) FROM hr.dept)

SELECT (WITH dept AS (SELECT ssn AS name FROM employee) SELECT MAX(name) FROM dept), (SELECT MAX(name) FROM dept)

SELECT name FROM dept UNION ALL (WITH dept AS (SELECT ssn AS name FROM employee) SELECT name FROM dept)

SELECT * FROM (VALUES ('a'), ('b')) v (x) JOIN employee ON name <> x

SELECT * FROM dept NATURAL JOIN (SELECT 1 AS id) q

SELECT budget FROM dept NATURAL JOIN (SELECT 1 AS id) q

SELECT * FROM dept JOIN (SELECT 4400123.75 AS budget) q USING (budget)

SELECT id FROM dept LEFT JOIN (SELECT 4400123.75 AS budget) q USING (budget)

SELECT employee.* , dept.name FROM dept STRAIGHT_JOIN employee

SELECT dept.*, dept.* FROM dept

SELECT (SELECT * FROM (SELECT ssn FROM employee LIMIT 1) q)

SELECT ROW(1, 2) = (SELECT id, salary FROM employee LIMIT 1)

SELECT 1 IN (SELECT salary FROM employee), 1 = ANY (SELECT id FROM employee WHERE salary > 80000)

SELECT NOT EXISTS (SELECT 1 FROM employee WHERE salary > 80000)

SELECT EXISTS (SELECT 1 FROM employee HAVING SUM(salary) > 320000)

SELECT EXISTS (SELECT 1 FROM employee GROUP BY salary HAVING COUNT(*) > 1)

SELECT (SELECT 1 FROM employee WHERE salary > 80000 LIMIT 1) IS NULL

SELECT (SELECT COUNT(*) FROM employee WHERE salary > 80000)

SELECT name, (SELECT MAX(hired) FROM employee e WHERE e.salary > 80000) FROM dept

SELECT (SELECT id FROM employee WHERE salary = (SELECT MAX(salary) FROM employee))

SELECT e.name FROM employee e WHERE salary = (SELECT MAX(salary) FROM employee)

SELECT e.name FROM employee e WHERE salary >= ALL (SELECT salary FROM employee)

SELECT CASE WHEN EXISTS (SELECT 1 FROM employee WHERE salary > 80000 AND id = 1) THEN 'y' ELSE 'n' END

SELECT IF((SELECT salary FROM employee WHERE id = 1) > 80000, 'y', 'n')

SELECT 'y' FROM dept WHERE (SELECT salary FROM employee WHERE id = 1) > 80000

SELECT 'y' FROM dept LIMIT 1 OFFSET 0 ROWS EXAMINED 1

SELECT 1 FROM dept JOIN employee ON employee.salary > 80000 AND employee.id = 1

SELECT 1 FROM dept d JOIN employee e ON e.id = IF(e.salary > 80000, d.id, 0)

SELECT TIMESTAMPADD(SECOND, salary, '2001-01-01'), DATE_SUB(hired, INTERVAL salary MINUTE), ADDTIME('00:00:00', ssn), MAKETIME(1, LEFT(ssn, 2), 1), PERIOD_ADD(200101, salary) FROM employee

SELECT CRC32(ssn) % 7, INET_ATON(ssn), INET6_NTOA(UNHEX(HEX(ssn))), UUID_SHORT() + salary, FORMAT_BYTES(salary) FROM employee

SELECT ssn + 0e0, - - salary, +ssn, !salary, NOT salary, salary IS TRUE, salary IS NOT UNKNOWN FROM employee

SELECT ssn REGEXP '^7' IS TRUE, ssn RLIKE BINARY '7', ssn LIKE 'X7%' ESCAPE 'X', ssn SOUNDS LIKE 'x' FROM employee

SELECT SUBSTR(ssn, 1, 3) AS `id`, id AS ssn FROM employee

SELECT `employee`.`ssn` `COUNT(*)` FROM `employee`

SELECT ssn AS 'name', name 'ssn' FROM employee

SELECT 1 ssn, ssn `1`, 2 FROM employee

SELECT /*+ NO_ICP(employee) */ ssn FROM employee

SELECT /*!40001 SQL_NO_CACHE */ * FROM employee

SELECT SQL_BUFFER_RESULT SQL_BIG_RESULT DISTINCT name, ssn FROM employee

SELECT DISTINCT SQL_CALC_FOUND_ROWS ssn FROM employee LIMIT 1
SELECT FOUND_ROWS()

SELECT name FROM employee e USE INDEX () WHERE ssn = 'x'

SELECT name FROM employee IGNORE INDEX FOR JOIN (uq_ssn) LIMIT 1

SELECT AUTO_INCREMENT, TABLE_ROWS, AVG_ROW_LENGTH, DATA_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hr' AND TABLE_NAME = 'employee'

SELECT * FROM information_schema.COLUMNS WHERE TABLE_NAME = 'employee' AND COLUMN_NAME = (SELECT 'ssn' FROM hr.employee WHERE salary > 80000 AND id = 1)

SELECT e.ssn FROM information_schema.TABLES t JOIN hr.employee e ON t.TABLE_NAME = 'dept'

SELECT * FROM sys.schema_table_statistics

SELECT * FROM performance_schema.threads

SELECT * FROM information_schema.INNODB_BUFFER_PAGE

SELECT * FROM mysql.innodb_index_stats WHERE table_name = 'employee'

SELECT * FROM mysql.general_log

SELECT * FROM mysql.help_topic LIMIT 1

INSERT INTO log (msg) SELECT ssn IS NULL FROM employee

INSERT INTO log (msg) SELECT COUNT(DISTINCT ssn) FROM employee

INSERT INTO log (msg) SELECT COUNT(*) FROM employee WHERE salary > 80000
SELECT * FROM log

INSERT INTO log (msg) SELECT GROUP_CONCAT(name ORDER BY salary) FROM employee
SELECT * FROM log

INSERT INTO log (msg) VALUES (JSON_OBJECT('a', (SELECT ssn FROM employee LIMIT 1)))

INSERT INTO log (msg) TABLE employee

INSERT INTO log SELECT * FROM (SELECT id, ssn FROM employee) q

INSERT INTO log (msg) WITH q AS (SELECT name FROM employee ORDER BY salary) SELECT name FROM q

INSERT INTO log (msg) (SELECT name FROM dept) UNION (SELECT ssn FROM employee)

INSERT INTO log (id, msg) VALUES (1, 'a') ON DUPLICATE KEY UPDATE msg = (SELECT MAX(notes) FROM employee)

INSERT INTO log (id, msg) SELECT id, name FROM employee ON DUPLICATE KEY UPDATE msg = employee.notes

INSERT INTO log (id, msg) SELECT id, name FROM employee e ON DUPLICATE KEY UPDATE msg = CONCAT(msg, e.ssn)

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') ON DUPLICATE KEY UPDATE hired = IF(ssn > '8', '2001-01-01', '2002-01-01')
SELECT id, hired FROM employee

INSERT INTO employee (id, name, ssn) VALUES (1, 'x', 'y') ON DUPLICATE KEY UPDATE ssn = IF(ssn > '8', ssn, 'z'), bonus = bonus + 1
SELECT ROW_COUNT()

UPDATE employee SET name = (SELECT x FROM (SELECT MAX(ssn) x FROM employee) q)

UPDATE employee SET bonus = salary

UPDATE employee SET bonus = 1 WHERE salary > 80000
SELECT id, bonus FROM employee

UPDATE employee SET id = id + 100 ORDER BY salary LIMIT 1
SELECT id FROM employee

UPDATE employee e JOIN (SELECT id FROM employee ORDER BY salary LIMIT 1) q ON q.id = e.id SET e.name = 'lowest'
SELECT name FROM employee

UPDATE employee e JOIN (SELECT id, RANK() OVER (ORDER BY salary) r FROM employee) q ON q.id = e.id SET e.bonus = q.r
SELECT bonus FROM employee

UPDATE dept d SET d.name = IF((SELECT SUM(salary) FROM employee e WHERE e.dept_id = d.id) > 150000, 'rich', 'poor')

UPDATE dept SET budget = (SELECT SUM(salary) FROM employee)

UPDATE employee SET salary = (SELECT MAX(budget) FROM dept)

UPDATE dept SET budget = budget * IF(budget > 4000000, 1, 2), name = 'x'

UPDATE log SET msg = 'x' WHERE id = (SELECT FLOOR(salary / 80000) FROM employee WHERE id = 1)

UPDATE log, employee SET log.msg = employee.name WHERE employee.ssn > '8'

DELETE FROM log WHERE msg IN (SELECT name FROM employee WHERE ssn > '8')

DELETE employee FROM employee JOIN dept ON employee.salary > dept.budget / 50

DELETE FROM employee WHERE salary > 80000 LIMIT 1

DELETE FROM employee WHERE id = 1 RETURNING ssn IS NULL, LENGTH(ssn), name

DELETE FROM employee WHERE id = 1 RETURNING (SELECT MAX(ssn) FROM employee)

INSERT INTO employee (id, name, ssn) VALUES (71, 'x', 'y') RETURNING id, UPPER(ssn), (SELECT COUNT(*) FROM dept)

CREATE TEMPORARY TABLE t1 AS SELECT id, name FROM employee WHERE salary > 80000

CREATE TEMPORARY TABLE t1 AS SELECT id, name FROM employee ORDER BY salary LIMIT 1

CREATE TEMPORARY TABLE t1 (a VARCHAR(40)) AS SELECT ssn AS a FROM employee

CREATE TEMPORARY TABLE t1 LIKE employee
INSERT INTO t1 SELECT * FROM employee
SELECT ssn FROM t1

CREATE TEMPORARY TABLE t1 (ssn VARCHAR(11), n INT AS (LENGTH(ssn)))
INSERT INTO t1 (ssn) SELECT ssn FROM employee
SELECT * FROM t1

CREATE TABLE pub.employee2 AS SELECT * FROM hr.employee

CREATE TABLE hr.tnew (a INT DEFAULT (SELECT MAX(salary) FROM employee))

CREATE TABLE hr.tnew (a INT CHECK (a > (SELECT MAX(salary) FROM employee)))

CREATE OR REPLACE TABLE log (id INT)

CREATE TABLE hr.t7 (id INT) COMMENT = 'x' DATA DIRECTORY = '/tmp'

CREATE TABLE hr.t8 (id INT) WITH SYSTEM VERSIONING

CREATE UNIQUE INDEX x ON employee (notes(1))

ALTER TABLE employee ADD UNIQUE (salary)

DROP VIEW v_all

LOCK TABLES employee WRITE

FLUSH TABLES employee FOR EXPORT

DO (SELECT IF(salary > 80000, SLEEP(1), 0) FROM employee WHERE id = 1)

DO RELEASE_LOCK((SELECT ssn FROM employee LIMIT 1))

DO 1, (SELECT MAX(ssn) FROM employee)

SET @x = 1, @y = (SELECT 1)

SET @x := ssn

SET sql_select_limit = 1
SELECT ssn FROM employee ORDER BY id

SET group_concat_max_len = 4
SELECT GROUP_CONCAT(ssn) FROM employee
SHOW WARNINGS

SET time_zone = 'SYSTEM', lc_time_names = 'de_DE', sql_mode = 'PIPES_AS_CONCAT'
SELECT 'a' || ssn || DAYNAME(hired) FROM employee

SET sql_mode = 'ONLY_FULL_GROUP_BY'
SELECT dept_id, ssn FROM employee GROUP BY dept_id

SET sql_mode = 'TRADITIONAL'
UPDATE employee SET ssn = CONCAT(ssn, ssn)

SET sql_mode = 'TIME_ROUND_FRACTIONAL,SIMULTANEOUS_ASSIGNMENT'
UPDATE employee SET ssn = name, name = ssn

SET sql_mode = 'NO_UNSIGNED_SUBTRACTION,ERROR_FOR_DIVISION_BY_ZERO'
SELECT bonus / (salary - salary) FROM employee

SELECT 'a' -- x
, ssn FROM employee

SELECT name FROM employee WHERE id = 1 /* ' */ UNION SELECT ssn FROM employee /* ' */

SELECT/*!100000+*/(SELECT ssn FROM employee LIMIT 1)

SELECT 0xZZ, ssn FROM employee

SELECT 1.ssn FROM employee

SELECT 1 .ssn FROM employee

SELECT .5ssn FROM employee

SELECT 1e, ssn FROM employee

SELECT @`x``y`, ssn FROM employee

SELECT $ssn, ssn FROM employee

SELECT ssn$ FROM employee

SELECT :ssn FROM employee

SELECT ?

SELECT 'x'.ssn FROM employee

SELECT employee.`*`, employee.* FROM employee

SELECT e.ssn FROM employee AS `e` JOIN dept AS `E` ON 1

SELECT E.ssn FROM employee e

SELECT x.ssn FROM (SELECT 'a' ssn) AS x, employee AS X

SELECT a.ssn FROM employee a WHERE a.id IN (SELECT a.id FROM dept a)

SELECT (SELECT a.ssn FROM (SELECT 'q' ssn) a) FROM employee a

SELECT (SELECT ssn FROM (SELECT 'q' AS SSN) a) FROM employee a

SELECT (SELECT ssn FROM dept a) FROM employee a

SELECT a.ssn, b.ssn FROM employee a, pub.employee b

SELECT COUNT(*), name FROM hr.employee, pub.employee WHERE hr.employee.ssn = pub.employee.ssn

SELECT hr.employee.ssn FROM pub.employee AS hr, hr.employee

SELECT name FROM employee WHERE ssn = CAST(721 AS INT)

SELECT name FROM employee WHERE ssn IN (CAST(721 AS INTEGER), CAST(1 AS UNSIGNED))

SELECT name FROM employee WHERE ssn = CAST('721' AS UNSIGNED)

SELECT name FROM employee WHERE ssn = CONVERT('721', SIGNED)

SELECT name FROM employee WHERE ssn = CAST('1.2.3.4' AS INET4)

SELECT name FROM employee WHERE ssn = CAST('01:00' AS TIME)

SELECT ROUND(1.23456, q.n) FROM (SELECT (SELECT salary > 80000 FROM employee WHERE id = 1) AS n) q

SELECT TRUNCATE(1.23456, (SELECT salary > 80000 FROM employee WHERE id = 1) + 1)

WITH q AS (SELECT (SELECT salary > 80000 FROM employee WHERE id = 1) AS n) SELECT ROUND(1.23456, n) FROM q

SELECT SUBSTR('abcdefgh', (SELECT salary > 80000 FROM employee WHERE id = 1) + 1, 3)

SELECT SUBSTRING('abcdefgh' FROM 1 FOR (SELECT salary > 80000 FROM employee WHERE id = 1) + 1)

SELECT MID('abcdefgh', 1, (SELECT salary > 80000 FROM employee WHERE id = 1) + 1)

SELECT IFNULL(STR_TO_DATE('01', IF((SELECT salary > 80000 FROM employee WHERE id = 1), '%d', '%H')), 'x')

SELECT IFNULL(STR_TO_DATE('01', (SELECT IF(salary > 80000, '%d', '%H') FROM employee WHERE id = 1)), 'x')

SELECT IFNULL(ROUND(1.23456, (SELECT salary > 80000 FROM employee WHERE id = 1)), '')

SELECT CONCAT(ROUND(1.23456, (SELECT salary > 80000 FROM employee WHERE id = 1)), '')

SELECT ROUND((SELECT AVG(salary) FROM employee), 2), SUBSTR(notes, LOCATE('-', notes) + 1), ROUND(salary, dept_id) FROM employee

SELECT LPAD(ssn, 20, ' '), RPAD(ssn, 20), LPAD(ssn, 20, name) FROM employee

SELECT DATE_ADD(day, INTERVAL 1 YEAR), day - INTERVAL 30 DAY, ADDDATE(day, 31), DATE_SUB(at, INTERVAL 12 HOUR) FROM born

SELECT DATE_ADD(day, INTERVAL -1980 YEAR) FROM born

SELECT DATE_ADD(DATE_ADD(day, INTERVAL -999 YEAR), INTERVAL -980 YEAR) FROM born

SELECT DATE_ADD(day, INTERVAL '1979-6' YEAR_MONTH) FROM born

SELECT DATE_ADD(day, INTERVAL 1e4 YEAR), DATE_ADD(day, INTERVAL 723000.5 DAY) FROM born

SELECT DATE_ADD(day, INTERVAL (SELECT 7990) YEAR) FROM born

SELECT TIMESTAMPADD(YEAR, 7985, day) FROM born

SELECT (SELECT DATE_SUB(day, INTERVAL 1978 YEAR)) FROM born

SELECT COUNT(DATE_SUB(day, INTERVAL 1978 YEAR)), MAX(DATE_SUB(day, INTERVAL 1978 YEAR)) FROM born GROUP BY id

SELECT COUNT(d) FROM (SELECT DATE_SUB(day, INTERVAL 1978 YEAR) AS d FROM born) q

SELECT name FROM born WHERE day = '2001-01-01'

SELECT name FROM born WHERE day = 20010101

SELECT name FROM born WHERE day = 'x'

SELECT CAST(ssn AS UUID), CAST(CONCAT('00000000-0000-0000-0000-00000000000', LEFT(ssn, 1)) AS UUID) FROM employee

SELECT CAST(ssn AS VARCHAR(3)), CAST(salary AS INT), CAST(salary AS DOUBLE), CAST(salary AS FLOAT), CAST(ssn AS JSON) FROM employee

SELECT FORMAT(1234.5, (SELECT salary > 80000 FROM employee WHERE id = 1) + 1), REPEAT('x', 3) FROM employee

SELECT CASE WHEN id THEN ROUND(bonus, (SELECT salary > 80000 FROM employee WHERE id = 1)) ELSE 1 END FROM employee

SELECT SUM(ROUND(bonus, (SELECT salary > 80000 FROM employee WHERE id = 1))) FROM employee

SELECT ROUND(bonus, salary > 80000) FROM employee WHERE id = 1

SELECT ROUND(bonus, v.n) FROM v_hide v JOIN employee USING (id)

SELECT NTH_VALUE(1, (SELECT FLOOR(salary) - 77230 FROM employee WHERE id = 1)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM employee

SELECT LAG(1, (SELECT FLOOR(salary) - 77230 FROM employee WHERE id = 1)) OVER (ORDER BY id) FROM employee

SELECT LAG(1, salary - 77230) OVER (ORDER BY id) FROM employee

SELECT AES_ENCRYPT(ssn, 'k'), CHR(LEFT(ssn, 2)), COMPRESS(ssn), REGEXP_SUBSTR(ssn, '^7'), REPEAT(ssn, 2), SHA2(ssn, 224) FROM employee

SELECT SHA2('x', salary - 77000), REPEAT('x', salary - 80000), CHR(salary - 80000) FROM employee

SELECT MAX(ssn) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING), GROUP_CONCAT(NULLIF(ssn, '')) OVER () FROM employee

SELECT YEAR(day), MONTH(day), DAYNAME(day), LAST_DAY(day), QUARTER(day), TO_DAYS(day), UNIX_TIMESTAMP(day), EXTRACT(YEAR_MONTH FROM day), TIMESTAMPDIFF(YEAR, day, '2024-01-01'), DATEDIFF('2024-01-01', day), TIME(at), DATE(at), HOUR(at) FROM born

SELECT UNIX_TIMESTAMP(at) FROM born

-- shims
WITH median (a) AS (SELECT ssn FROM employee) SELECT a FROM median

WITH last_value (a) AS (SELECT ssn FROM employee) SELECT a FROM last_value

WITH json_arrayagg (a) AS (SELECT ssn FROM employee) SELECT a FROM json_arrayagg

WITH median (a, id) AS (SELECT ssn, id FROM employee), q AS (SELECT a FROM median) SELECT a FROM q

INSERT INTO median (a) SELECT name FROM dept

INSERT INTO median (a) SELECT ssn FROM employee

SELECT median (1)

SELECT hr.median(1)

SET sql_mode = 'IGNORE_SPACE'
SELECT median (salary) OVER () FROM employee

SELECT last_value (1)

CREATE TEMPORARY TABLE median (ssn VARCHAR(20))
INSERT INTO median SELECT 'x'
SELECT * FROM median

SELECT q.a FROM (SELECT ssn FROM employee) median (a), median q

SELECT a FROM (SELECT ssn FROM employee) AS last_value (a)

SELECT json_table (a) FROM median

SELECT values (a) FROM median

-- direct
SELECT employee.ssn AS `employee.name` FROM employee

SELECT hr.employee.* FROM employee LIMIT 1

SELECT ssn FROM employee LOCK IN SHARE MODE

SELECT ssn FROM employee FOR UPDATE NOWAIT

SELECT ssn FROM employee WAIT 1

SELECT ssn FROM employee LIMIT 2, 1

SELECT ssn FROM employee OFFSET 1 ROW FETCH NEXT ROW ONLY

SELECT * FROM hr.employee ORDER BY id ASC LIMIT 18446744073709551615 OFFSET 1

-- alias
SELECT ssn AS '', name AS ' ' FROM employee

SELECT ssn AS "a b", `ssn` `name` FROM employee

SELECT name AS ssn, hired AS notes, 1 AS budget FROM employee ORDER BY ssn, notes

SELECT name ssn FROM employee WHERE name LIKE 'A%' GROUP BY ssn

SELECT name ssn FROM employee HAVING ssn > 'B'

SELECT id AS salary FROM employee ORDER BY salary

SELECT id AS salary FROM employee ORDER BY salary + 0

SELECT MAX(id) AS salary FROM employee GROUP BY dept_id HAVING salary > 1

SELECT salary AS id FROM employee e HAVING id > 1

SELECT name AS x, ssn AS x FROM employee ORDER BY x

SELECT ssn AS name FROM employee GROUP BY employee.name

SELECT ssn AS a, a AS b FROM employee

SELECT (SELECT ssn) AS name, (SELECT name) AS ssn FROM employee

-- star
SELECT * FROM employee NATURAL JOIN dept NATURAL JOIN (SELECT 1 AS id) x

SELECT * FROM dept d RIGHT JOIN employee e USING (id, name) LEFT JOIN log USING (id)

SELECT * FROM log RIGHT JOIN (dept RIGHT JOIN employee USING (id)) USING (id)

SELECT * FROM (SELECT * FROM employee) a NATURAL RIGHT JOIN (SELECT id, name FROM dept) b

SELECT a.*, b.* FROM employee a LEFT JOIN employee b USING (id)

SELECT * FROM inv NATURAL JOIN employee

SELECT * FROM employee e JOIN inv USING (ssn)

SELECT * FROM inv i JOIN inv j USING (id)

SELECT * FROM dept NATURAL LEFT JOIN employee NATURAL RIGHT JOIN inv

SELECT dept.*, employee.* FROM dept NATURAL JOIN employee

SELECT * FROM v_right

SELECT * FROM v_nat

SELECT x.* FROM (SELECT * FROM v_right) x

SELECT *, name FROM employee

SELECT *, * FROM dept

SELECT hr.*, 1 FROM employee

SELECT * FROM employee, dept, log WHERE employee.id = dept.id

SELECT * FROM dept CROSS JOIN employee USING (id)

SELECT * FROM ver FOR SYSTEM_TIME ALL JOIN dept USING (id)

SELECT * FROM gg

-- derived
SELECT `name_exp_1` FROM (SELECT CONCAT(ssn) FROM employee) q

SELECT `CONCAT(ssn)` FROM (SELECT CONCAT(ssn) FROM employee) q

SELECT `UPPER( ssn )` FROM (SELECT UPPER( ssn ), name AS `upper(ssn)` FROM employee) q

SELECT `ssn` FROM (SELECT 'ssn' FROM dept) q

SELECT `721-07-4426`, q.* FROM (SELECT '721-07-4426', ssn FROM employee) q

SELECT q.name FROM (SELECT ssn name FROM employee UNION SELECT name FROM dept ORDER BY name LIMIT 1) q

SELECT b.v FROM (SELECT (SELECT ssn FROM employee LIMIT 1) v) b RIGHT JOIN dept ON 1

SELECT x FROM (SELECT a.x FROM (SELECT ssn x FROM employee) a JOIN (SELECT 'y' x) b) c

SELECT c.x FROM (SELECT b.* FROM (SELECT ssn x FROM employee) a JOIN (SELECT 'y' x) b) c

SELECT t.name FROM (SELECT * FROM dept UNION ALL SELECT id, ssn, salary FROM employee) t

SELECT t.id FROM (SELECT id, ssn FROM employee UNION SELECT id, name FROM dept) t

SELECT t.x FROM (VALUES (1), ((SELECT salary FROM employee WHERE id = 1))) AS t (x)

SELECT `1` FROM (VALUES (1, 'x'), (2, (SELECT ssn FROM employee LIMIT 1))) v

SELECT `x` FROM (VALUES (1, 'x'), (2, (SELECT ssn FROM employee LIMIT 1))) v

SELECT MAX(q.s) FROM (SELECT DISTINCT ssn s FROM employee) q

SELECT q.n FROM (SELECT ROW_NUMBER() OVER (ORDER BY ssn) n FROM employee) q

SELECT q.c FROM (SELECT COUNT(*) c FROM employee GROUP BY ssn) q

-- cte
WITH a AS (SELECT 1 x), a AS (SELECT ssn x FROM employee) SELECT x FROM a

WITH a AS (WITH a AS (SELECT ssn x FROM employee) SELECT x FROM a) SELECT x FROM a

WITH `a b` (`c``d`) AS (SELECT ssn FROM employee) SELECT `c``d` FROM `a b`

WITH q AS (SELECT ssn x FROM employee) SELECT d.x FROM (SELECT * FROM q) d

WITH q AS (SELECT ssn x FROM employee), r AS (SELECT x FROM q UNION SELECT 'a'), s AS (SELECT x AS y FROM r) SELECT y, COUNT(*) FROM s GROUP BY y

WITH RECURSIVE a (n, s) AS (SELECT 1, name FROM dept UNION ALL SELECT n + 1, s FROM a WHERE n < 3), b AS (SELECT s FROM a UNION ALL SELECT ssn FROM employee) SELECT s FROM b

WITH RECURSIVE a AS (SELECT id, name FROM dept WHERE id = 1 UNION SELECT e.id, e.ssn FROM a JOIN employee e ON e.id = a.id + 1) SELECT name FROM a

WITH RECURSIVE employee AS (SELECT 1 AS id, 'x' AS ssn UNION ALL SELECT id + 1, ssn FROM employee WHERE id < 3) SELECT ssn FROM employee

WITH RECURSIVE x AS (SELECT 1 n UNION SELECT n + 1 FROM x WHERE n < 3) SELECT n, (SELECT ssn FROM employee WHERE id = n) FROM x

WITH x AS (SELECT * FROM employee) SELECT * FROM x NATURAL JOIN dept

SELECT * FROM (WITH x AS (SELECT ssn FROM employee) SELECT * FROM x) y

SELECT name FROM dept WHERE id IN (WITH x AS (SELECT id FROM employee WHERE salary > 80000) SELECT id FROM x)

WITH x AS (SELECT name FROM dept) UPDATE employee SET name = 'x' WHERE id = 99

WITH x AS (SELECT id FROM employee WHERE salary > 80000) DELETE FROM log WHERE id IN (SELECT id FROM x)

WITH x (a, b, a) AS (SELECT 1, 2, ssn FROM employee) SELECT a FROM x

WITH X AS (SELECT ssn v FROM employee), x2 AS (SELECT v FROM x) SELECT v FROM X2

-- view
SELECT c FROM v_tt

SELECT a, b FROM v_tt

SELECT rn FROM v_win

SELECT id, name FROM v_lim

SELECT s FROM v_rec

SELECT n FROM v_rec

SELECT v FROM v_json

SELECT band FROM v_case

SELECT nn FROM v_null

SELECT nn IS NULL, COUNT(nn) FROM v_null GROUP BY id

SELECT dept_id FROM v_having

SELECT name FROM v_exists

SELECT name FROM v_int

SELECT s FROM v_sys

SELECT employee, hr, `e.ssn` FROM v_same

SELECT employee.hr FROM v_same AS employee

SELECT COUNT(*) FROM v_lim JOIN dept USING (id)

SELECT d.name FROM dept d WHERE d.id IN (SELECT dept_id FROM v_having)

SELECT d.name FROM dept d LEFT JOIN v_having h ON h.dept_id = d.id WHERE h.dept_id IS NULL

SHOW CREATE VIEW v_case

DESCRIBE v_case

INSERT INTO log (msg) SELECT band FROM v_case

UPDATE log, v_exists SET log.msg = v_exists.name

UPDATE employee, v_lim SET employee.bonus = 1 WHERE employee.id = v_lim.id

DELETE FROM log WHERE id IN (SELECT id FROM v_lim)

INSERT INTO v_exists (id, name) VALUES (77, 'x')

CREATE TEMPORARY TABLE z AS SELECT * FROM v_lim

-- names the server makes others of
SELECT (SELECT name FROM (SELECT ssn AS ' name' FROM employee LIMIT 1) q) FROM dept

SELECT name FROM (SELECT ssn AS '	name' FROM employee) q

SELECT (SELECT name FROM (SELECT ssn AS '\nname' FROM employee LIMIT 1) q) FROM dept

SELECT (SELECT name FROM (SELECT ssn AS ` name` FROM employee LIMIT 1) q) FROM dept

SELECT (SELECT q.name FROM (SELECT ssn AS ' name' FROM employee LIMIT 1) q) FROM dept q

SELECT ssn AS '', name AS ' ' FROM employee

SELECT name AS ' x' FROM dept

SELECT (SELECT name FROM (SELECT ssn AS 'name ' FROM employee LIMIT 1) q) FROM dept

WITH q (` name`) AS (SELECT ssn FROM employee LIMIT 1) SELECT (SELECT name FROM q) FROM dept

SELECT (SELECT `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` FROM (SELECT ssn AS 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' FROM employee LIMIT 1) q) FROM (SELECT name AS `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` FROM dept) p

CREATE TEMPORARY TABLE zz AS SELECT name AS ' ssn' FROM dept
SELECT ssn FROM zz
SELECT * FROM zz

SELECT (SELECT MAX(name) FROM (SELECT e.ssn AS ' name' FROM employee e) q WHERE q.name IS NOT NULL) AS x FROM dept

SELECT name FROM dept HAVING (SELECT name FROM (SELECT ssn AS ' name' FROM employee LIMIT 1) q) > '5'

INSERT INTO log (msg) SELECT (SELECT name FROM (SELECT ssn AS ' name' FROM employee LIMIT 1) q) FROM dept

SELECT name AS ' dept', (SELECT dept) FROM dept

SELECT (SELECT name FROM (SELECT ssn AS 'é' FROM employee LIMIT 1) q) FROM dept

-- window
SELECT name, SUM(salary) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM employee

SELECT name, MAX(name) OVER (ORDER BY salary RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM employee

SELECT name, LAST_VALUE(notes) OVER (PARTITION BY dept_id ORDER BY id) FROM employee

SELECT name, RANK() OVER (ORDER BY LENGTH(notes)) FROM employee

SELECT name, NTILE(2) OVER (ORDER BY id), ROW_NUMBER() OVER (PARTITION BY dept_id ORDER BY name) FROM employee

SELECT name FROM employee ORDER BY RANK() OVER (ORDER BY salary)

-- subquery
SELECT (SELECT COUNT(*) FROM employee x WHERE x.ssn <= e.ssn) FROM employee e

SELECT name, EXISTS (SELECT 1 FROM employee x WHERE x.id = d.id AND x.notes LIKE 'z%') FROM dept d

SELECT (SELECT name FROM employee ORDER BY ssn DESC LIMIT 1) FROM dept

SELECT name, (SELECT 1 FROM DUAL WHERE (SELECT salary FROM employee WHERE id = d.id) > 80000) FROM dept d

SELECT name FROM dept d WHERE d.id IN (SELECT e.id FROM employee e WHERE e.notes IS NULL)

SELECT name FROM dept WHERE (SELECT ssn FROM employee WHERE id = 1) = (SELECT '721-07-4426')

-- conditional
SELECT IF(ssn IS NULL, 'none', 'some'), IFNULL(ssn, 'none'), NULLIF(name, 'x') FROM employee

SELECT CASE WHEN ssn IS NULL THEN 1 ELSE 0 END, CASE notes WHEN NULL THEN 1 END FROM employee

SELECT IF(name = 'x', ssn, name), IF(1, name, ssn), IF(0, ssn, name) FROM employee

SELECT ELT(1 + (salary > 80000), 'lo', 'hi'), FIELD(1, salary > 80000), INTERVAL(salary, 50000, 80000) FROM employee

SELECT salary > 80000 AND name = 'x', salary IS NOT TRUE, NOT (salary <=> 5) FROM employee

-- returning
INSERT INTO dept (id, name, budget) VALUES (50, 'x', 5) RETURNING *

INSERT INTO dept (id, name, budget) SELECT 60 + id, name, budget FROM dept RETURNING id, budget, budget * 2 AS name

REPLACE INTO dept (id, name) VALUES (1, 'y') RETURNING budget IS NULL, name AS budget

DELETE FROM dept WHERE id = 1 RETURNING name, (SELECT MAX(ssn) FROM employee), budget > 5

DELETE FROM employee WHERE id = 1 RETURNING *

DELETE FROM employee ORDER BY id LIMIT 1 RETURNING ssn AS name, CONCAT(notes)

INSERT INTO employee (id, name) VALUES (80, 'z') ON DUPLICATE KEY UPDATE name = 'q' RETURNING ssn

INSERT INTO log (msg) VALUES ('a'), ('b') RETURNING id > 0, msg, (SELECT COUNT(*) FROM employee WHERE salary > 80000)

INSERT INTO gg (id, base) VALUES (9, 'abc') RETURNING a, b, c, d

DELETE FROM p0 RETURNING up

REPLACE INTO inv (id, ssn) VALUES (1, 'x') RETURNING ssn, n, *

INSERT INTO dept SET id = 55, name = 'w' RETURNING id AS budget, `dept`.`budget` AS id

-- names again
SELECT (SELECT ssn FROM (SELECT ssn AS '' FROM pub.employee) q) FROM employee

SELECT (SELECT ssn FROM (SELECT ssn '' FROM pub.employee) q) FROM employee

SELECT (SELECT ssn FROM (SELECT (ssn) "" FROM pub.employee) q) FROM employee

SELECT name AS '', ssn AS "" FROM employee

SELECT name '', 'x' FROM dept

SELECT name LIKE '', '' FROM dept

SELECT (SELECT .q.name FROM (SELECT ssn AS name FROM employee LIMIT 1) q) FROM dept q

SELECT name FROM employee NATURAL JOIN (SELECT '721-07-4426' AS ' ssn') g

SELECT name AS ' x' FROM dept

SELECT (SELECT name FROM (SELECT ssn AS '\0name' FROM employee LIMIT 1) q) FROM dept

SET NAMES binary
SELECT name AS 'größe' FROM dept

SELECT `größe`, name FROM `größe`

SELECT GRÖSSE, Größe FROM größe

SELECT größe.größe FROM größe WHERE größe.größe = 'x'

SELECT `from`, `where x`, `a.b.c` FROM `sel``ect`

SELECT `sel``ect`.`from` AS `a.b.c` FROM hr.`sel``ect`

SELECT ``.`from` FROM `sel``ect`

SELECT T.`A.B.C`, T.`WHERE X` FROM `sel``ect` T

SELECT `hr`.`größe`.* FROM größe

SELECT größe.* FROM (SELECT 'a' AS größe) größe, hr.größe g

SELECT g.größe FROM größe g JOIN (SELECT 1 größe) h

SELECT q.`größe ` FROM (SELECT größe AS `größe ` FROM größe) q

-- names that the server puts in place of those no column of a table can have, in queries of WITH
WITH q AS (SELECT q.`größe ` FROM (SELECT größe AS `größe ` FROM größe) q) SELECT * FROM q

WITH q AS (SELECT t.`a ` FROM (SELECT ssn AS `a ` FROM employee) t) SELECT (SELECT Name_exp_1 FROM q LIMIT 1) AS x FROM (SELECT 1 AS Name_exp_1) o

WITH q AS (SELECT * FROM (SELECT ssn AS `a	` FROM employee) t) SELECT (SELECT Name_exp_1 FROM q LIMIT 1) AS x FROM (SELECT 1 AS Name_exp_1) o

WITH q AS (SELECT t.* FROM (SELECT ssn AS `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` FROM employee) t) SELECT (SELECT Name_exp_1 FROM q LIMIT 1) AS x FROM (SELECT 1 AS Name_exp_1) o

WITH RECURSIVE q AS (SELECT t.`a ` FROM (SELECT ssn AS `a ` FROM employee) t UNION ALL SELECT 'x' FROM q WHERE FALSE) SELECT (SELECT Name_exp_1 FROM q LIMIT 1) AS x FROM (SELECT 1 AS Name_exp_1) o

SELECT (WITH q AS (SELECT id, t.`a ` FROM (SELECT id, ssn AS `a ` FROM employee) t UNION ALL SELECT 0, '300' ORDER BY Name_exp_2 LIMIT 1) SELECT id FROM q) AS x FROM (SELECT 1 AS Name_exp_2) o

WITH q AS (SELECT d.id, t.`a ` FROM dept d JOIN (SELECT 'x' AS `a `) t) SELECT id FROM q

-- what names mean in ORDER BY of set operations and VALUES
SELECT (WITH q(n, zz) AS (SELECT id, ssn AS b FROM employee UNION ALL SELECT 0, '300' ORDER BY zz LIMIT 1) SELECT n FROM q) AS x FROM (SELECT 1 AS zz) o

SELECT (WITH q(n, zz) AS ((SELECT id, ssn AS b FROM employee UNION ALL SELECT 0, '300' ORDER BY zz LIMIT 1)) SELECT n FROM q) AS x FROM (SELECT 1 AS zz) o

WITH q(id, name) AS (SELECT ssn AS name, id FROM employee UNION ALL SELECT '300', 0 ORDER BY id LIMIT 1) SELECT name FROM q

SELECT (WITH RECURSIVE q(n, zz) AS (SELECT id, ssn AS b FROM employee UNION ALL SELECT n, 'x' FROM q WHERE FALSE ORDER BY zz LIMIT 1) SELECT n FROM q) AS x FROM (SELECT 1 AS zz) o

WITH q(n, name) AS (SELECT id, name FROM employee UNION ALL SELECT id, name FROM dept ORDER BY name LIMIT 3) SELECT name FROM q

WITH q(n, s) AS (SELECT id, ssn FROM employee UNION ALL SELECT id, ssn FROM employee ORDER BY 1 LIMIT 3) SELECT n, s FROM q

SELECT (SELECT `1` FROM (VALUES ((SELECT MIN(ssn) FROM employee), 1), ('300', 2) ORDER BY `(SELECT MIN(ssn) FROM employee)` LIMIT 1) t) AS x FROM (SELECT 1 AS `(SELECT MIN(ssn) FROM employee)`) o

SELECT (WITH q(zz, n) AS (VALUES ((SELECT MIN(ssn) FROM employee), 1), ('300', 2) ORDER BY zz LIMIT 1) SELECT n FROM q) AS x FROM (SELECT 1 AS zz) o

-- what names mean in HAVING, ORDER BY and GROUP BY: the server's of an expression, and an alias beside a column
SELECT (SELECT d.id FROM (SELECT id, SUBSTR(ssn,5,2) FROM employee ORDER BY `SUBSTR(ssn,5,2)` LIMIT 1) d) AS x FROM (SELECT 1 AS `SUBSTR(ssn,5,2)`) o

SELECT EXISTS(SELECT LEFT(ssn,1) FROM employee WHERE id = 1 HAVING `LEFT(ssn,1)` > '8') AS x FROM (SELECT 1 AS `LEFT(ssn,1)`) o

SELECT EXISTS(SELECT MIN(ssn) FROM employee HAVING `MIN(ssn)` > '300') AS x FROM (SELECT 1 AS `MIN(ssn)`) o

SELECT id, SUBSTR(ssn,5,2) FROM (SELECT id, ssn, 1 AS `SUBSTR(ssn,5,2)` FROM employee) t ORDER BY `SUBSTR(ssn,5,2)`

SELECT id, LEFT(ssn,1) FROM (SELECT id, ssn, 1 AS `LEFT(ssn,1)` FROM employee) t HAVING `LEFT(ssn,1)` > '4'

SELECT id, LEFT(ssn,1) AS x FROM (SELECT id, ssn, LEFT(name, 1) AS x FROM employee) t HAVING x > '4'

SELECT COUNT(*), LEFT(ssn,1) AS x FROM (SELECT id, ssn, LEFT('a', 1) AS x FROM employee) t GROUP BY x

SELECT name, (SELECT x > '5') AS y, LEFT(ssn,1) AS x FROM (SELECT name, ssn, LEFT(name, 1) AS x FROM employee) t

WITH q AS (SELECT t.`a ` FROM (SELECT LEFT(ssn,1) AS `a ` FROM employee) t) SELECT q.*, id FROM q, (SELECT 1 AS Name_exp_1, 2 AS id) o HAVING Name_exp_1 > '4'

SELECT (SELECT EXISTS(SELECT +o.ssn FROM dept HAVING ssn > '8') FROM (SELECT 1 AS ssn) m) AS x FROM employee o WHERE o.id = 1

SELECT (SELECT EXISTS(SELECT {d o.ssn} FROM dept HAVING ssn > '8') FROM (SELECT 1 AS ssn) m) AS x FROM employee o WHERE o.id = 1

SELECT LEFT(name,1) FROM dept ORDER BY `LEFT(name,1)`

SELECT LEFT(ssn,1), name FROM employee ORDER BY name

-- errors
SELECT CAST(ssn AS DATE), CAST(notes AS DECIMAL(5)) FROM employee
SHOW COUNT(*) ERRORS

SELECT CONCAT(_utf8mb4'a' COLLATE utf8mb4_bin, ssn COLLATE utf8mb4_general_ci) FROM employee

SELECT ssn FROM employee WHERE ssn = (SELECT ssn FROM employee)

SELECT (SELECT ssn FROM employee) FROM dept

SELECT (SELECT id, ssn FROM employee LIMIT 1)

SELECT JSON_OBJECT(NULL, ssn), JSON_ARRAY(1) -> ssn FROM employee

UPDATE employee SET hired = name WHERE id = 1

UPDATE employee SET ssn = REPEAT('x', 50) WHERE id = 1

UPDATE employee SET salary = 'abc' WHERE id = 1

-- naming
SELECT `hr`.`employee`.`ssn`, HR.employee.ssn FROM employee

SELECT employee.ssn FROM pub.employee JOIN hr.employee USING (id)

SELECT p.ssn, h.ssn FROM pub.employee p, hr.employee h

SELECT pub.employee.ssn, hr.employee.name FROM hr.employee JOIN pub.employee ON 1

USE pub
SELECT ssn, (SELECT MAX(ssn) FROM hr.employee) FROM employee

USE pub
SELECT employee.ssn FROM hr.employee

USE pub
SELECT ssn FROM hr.employee AS employee

USE information_schema
SELECT TABLE_NAME FROM TABLES LIMIT 1

USE `hr`
SELECT ssn FROM `employee`

USE HR

SELECT hr.dept.name FROM employee dept

SELECT dept.name FROM employee dept, (SELECT 1) employee

SELECT d.budget FROM dept AS d, dept AS D

SELECT `dept`.`name`, `dept`.`budget` FROM hr.dept `dept`

SELECT e.id FROM employee e WHERE e.hr.ssn = 1

SELECT id.ssn FROM employee id

SELECT ssn.ssn, ssn.name FROM employee ssn

SELECT (SELECT ssn.name FROM dept ssn WHERE ssn.id = 1) FROM employee ssn

-- inference
SELECT name FROM employee WHERE ssn IN (SELECT '721-07-4427')

SELECT name FROM employee WHERE salary = salary + 0

SELECT name FROM employee WHERE ssn = name

SELECT name FROM employee WHERE salary MOD 2

SELECT name FROM employee WHERE (salary, 1) > (80000, 0)

SELECT name FROM employee WHERE salary >= 80000 = 1

SELECT name FROM employee WHERE ISNULL(NULLIF(ssn, 'x'))

SELECT name FROM employee WHERE ssn RLIKE '^7' XOR 0

SELECT name FROM employee WHERE FIND_IN_SET(LEFT(ssn, 1), '7,8')

SELECT name FROM employee WHERE MATCH (name, notes) AGAINST ('x')

SELECT COUNT(*) FROM employee NATURAL JOIN (SELECT 91357.25 AS salary) q

SELECT name FROM employee JOIN (SELECT 1 AS id, 'x' AS ssn) q USING (id, ssn)

SELECT name FROM employee ORDER BY CASE WHEN salary > 80000 THEN 1 ELSE 2 END

SELECT name, salary FROM employee ORDER BY +2

SELECT name, salary FROM employee ORDER BY - -2

SELECT salary, name FROM employee ORDER BY TRUE

SELECT name, salary FROM employee ORDER BY (2), 1

SELECT name, salary FROM employee ORDER BY ((+2)) DESC LIMIT 1

SELECT MAX(name), salary > 80000 FROM employee GROUP BY +2

SELECT MAX(name), salary > 80000 FROM employee GROUP BY (2)

SELECT name, salary FROM employee UNION ALL SELECT name, salary FROM employee ORDER BY +2

SELECT * FROM (SELECT name, salary FROM employee ORDER BY +2 LIMIT 1) q

SELECT GROUP_CONCAT(name, salary ORDER BY 2) FROM employee

SELECT GROUP_CONCAT(name ORDER BY 1 DESC) FROM employee

SELECT name, hired FROM employee ORDER BY +2, - -1

SELECT name FROM employee GROUP BY id, ssn HAVING COUNT(DISTINCT LEFT(ssn, 1)) > 0

SELECT MIN(id) FROM employee WHERE ssn LIKE '7%' OR salary IS NULL

SELECT name FROM employee WHERE id = 1 AND (SELECT 1 FROM DUAL WHERE ssn = 'x')

SELECT name FROM employee e WHERE EXISTS (SELECT 1 FROM employee f WHERE f.ssn = e.ssn AND f.id <> e.id)

SELECT name FROM employee e JOIN seq_1_to_10 s ON s.seq = LEFT(e.ssn, 1)

SELECT seq FROM seq_1_to_12 WHERE seq = ANY (SELECT LENGTH(ssn) FROM employee)

SELECT seq FROM seq_1_to_12, employee WHERE seq = id AND salary IN (1, seq)

SELECT DISTINCT salary DIV 10000 FROM employee

SELECT COUNT(DISTINCT salary DIV 100000), COUNT(DISTINCT id, salary > 80000) FROM employee

SELECT name FROM employee WHERE salary BETWEEN 1 AND (SELECT 80000)

SELECT name FROM employee LIMIT 1 OFFSET 1

-- writes
INSERT INTO log (msg) SELECT name FROM employee ORDER BY +1

INSERT INTO log (msg) SELECT name FROM (SELECT name, salary FROM employee ORDER BY +2 LIMIT 1) q

INSERT INTO log SET msg = (SELECT ssn FROM employee LIMIT 1)

INSERT INTO log () VALUES ()

INSERT INTO dept (id, name, budget) SELECT 70 + id, ssn, salary FROM employee

INSERT INTO dept (id, name, budget) SELECT 70 + id, name, salary FROM employee

INSERT INTO gg (id, base, d) SELECT 50, ssn, 'x' FROM employee LIMIT 1

INSERT INTO gg (id, base, d) SELECT 50, 'x', a FROM gg LIMIT 1

INSERT DELAYED INTO log (msg) SELECT ssn FROM employee

INSERT HIGH_PRIORITY log VALUES (NULL, (SELECT MAX(notes) FROM employee))

REPLACE log VALUES (1, 'x'), (2, (SELECT ssn FROM employee LIMIT 1))

INSERT INTO log (msg) VALUES (DEFAULT(msg)), (DEFAULT)

INSERT INTO log (id, msg) SELECT id, name FROM dept ON DUPLICATE KEY UPDATE msg = CONCAT(VALUES(msg), dept.budget)

INSERT INTO log (id, msg) SELECT d.id, d.name FROM dept d ON DUPLICATE KEY UPDATE msg = IF(d.budget > 3000000, 'a', 'b')

INSERT INTO dept (id, name) VALUES (1, 'x') AS new ON DUPLICATE KEY UPDATE name = new.name

INSERT INTO dept (id, name) VALUES (1, 'x') AS new (a, b) ON DUPLICATE KEY UPDATE name = (SELECT ssn FROM employee WHERE id = a)

INSERT INTO p2 (id, z) SELECT 9, ssn FROM p0

INSERT INTO plainly (id, b) SELECT 40, dbl FROM p1

INSERT INTO plainly (id, b) SELECT 40 + id, z FROM p2

UPDATE p2 SET z = NULL

UPDATE log l SET l.msg = (SELECT z FROM p2 WHERE p2.id = l.id)

UPDATE employee SET name = DEFAULT(ssn)

UPDATE employee SET bonus = bonus + (salary > 80000)

UPDATE employee e JOIN employee f ON f.id = e.id SET e.name = f.ssn

UPDATE employee e LEFT JOIN p0 ON p0.ssn = e.ssn SET e.bonus = 5

-- cache
SELECT 1, ssn FROM employee WHERE id = 1
SELECT 'a', ssn FROM employee WHERE id = 1
SELECT 1, 2, ssn FROM employee WHERE id = 1
SELECT 1.0, ssn FROM employee WHERE id = 1

SELECT name, ssn FROM employee ORDER BY 1
SELECT name, ssn FROM employee ORDER BY 2
SELECT name, ssn FROM employee ORDER BY +1
SELECT name, ssn FROM employee ORDER BY +2

SELECT name FROM employee WHERE ssn = 'a'
SELECT name FROM employee WHERE ssn = 1
SELECT name FROM employee WHERE ssn = 1e0
SELECT name FROM employee WHERE ssn = x'37'

SELECT name FROM employee WHERE ssn LIKE 'a%'
SELECT name FROM employee WHERE ssn LIKE '%a'

SELECT LPAD(ssn, 20, 'x') FROM employee
SELECT LPAD(ssn, 20, '') FROM employee
SELECT LPAD(ssn, 20, 'y') FROM employee

SELECT "a" FROM dept
SET sql_mode = 'ANSI_QUOTES'
SELECT "name" FROM dept

SELECT ssn AS 'x' FROM employee
SELECT ssn AS '' FROM employee
SELECT ssn AS ' y' FROM employee

SHOW VARIABLES WHERE VARIABLE_NAME = 'warning_count '

SHOW VARIABLES WHERE VARIABLE_NAME IN ('port', 'warning_coun\t  ')

SHOW VARIABLES WHERE VARIABLE_NAME = 'wárning_count'

SHOW VARIABLES WHERE VARIABLE_NAME = 'wárning_count' AND 1

SHOW VARIABLES LIKE 'wárning%'

-- constraints that depend on protected values
UPDATE IGNORE chk SET pub = '721-07-442x'
SELECT id, pub FROM chk

UPDATE IGNORE cap SET hi = 75000
SELECT id, hi FROM cap

UPDATE IGNORE cap SET hi = hi - 20000, pay = 1
SELECT id, hi FROM cap

UPDATE cap SET hi = 75000 WHERE id = 1

UPDATE IGNORE cap SET pay = pay - 70000, note = 'x'
SELECT id, note FROM cap

UPDATE IGNORE cap, dept SET hi = 75000, dept.name = 'y' WHERE dept.id = cap.id
SELECT id, hi FROM cap

INSERT INTO cap (id, pay, hi) VALUES (1, 5, 6) ON DUPLICATE KEY UPDATE hi = 75000
SELECT id, hi FROM cap

INSERT IGNORE INTO cap (id, pay, hi) SELECT id + 10, pay, 75000 FROM cap
SELECT id, hi FROM cap

INSERT IGNORE INTO cap (id, pay, hi) VALUES (1, 5, 6), (2, 5, 6) ON DUPLICATE KEY UPDATE hi = 75000, pay = VALUES(pay)
SELECT id, hi FROM cap

REPLACE INTO cap (id, hi) VALUES (1, 75000)
SELECT id, hi FROM cap

UPDATE IGNORE capg SET hi = 75000
SELECT id, hi FROM capg

INSERT IGNORE INTO capg (id, pay, hi) SELECT id + 10, pay, 75000 FROM capg
SELECT id, hi FROM capg

UPDATE IGNORE js SET doc = IF(JSON_VALUE(doc, '$.ssn') > '5', 'x', '{}'), pub = '5'
SELECT id, pub FROM js

-- rows that are passed over, or take the place of others
INSERT INTO employee (id, name, ssn) VALUES (500, 'a', 'yes'), (501, 'b', 'no')
REPLACE INTO employee (id, name, ssn) SELECT 502, 'x', IF(salary > 80000, 'yes', 'no') FROM employee WHERE id = 1
SELECT id FROM employee ORDER BY id

INSERT INTO employee (id, name, ssn) VALUES (500, 'a', 'yes'), (501, 'b', 'no')
REPLACE INTO employee (id, name, ssn) VALUES (502, 'x', (SELECT IF(salary > 80000, 'yes', 'no') FROM employee e WHERE id = 1))
SELECT id FROM employee ORDER BY id

INSERT INTO employee (id, name, ssn) VALUES (500, 'a', 'yes')
INSERT IGNORE INTO employee (id, name, ssn) SELECT 502, 'x', IF(salary > 80000, 'yes', 'no') FROM employee WHERE id = 1
SELECT id FROM employee ORDER BY id

INSERT INTO employee (id, name, ssn) VALUES (500, 'a', 'yes'), (501, 'b', 'no')
INSERT INTO employee (id, name, ssn) SELECT 502, 'x', IF(salary > 80000, 'yes', 'no') FROM employee WHERE id = 1 ON DUPLICATE KEY UPDATE name = 'hit'
SELECT id, name FROM employee ORDER BY id

INSERT INTO employee (id, name, ssn) VALUES (500, 'a', 'yes')
UPDATE IGNORE employee SET ssn = IF(salary > 80000, 'yes', 'no'), name = 'moved' WHERE id = 1
SELECT id, name FROM employee ORDER BY id

INSERT IGNORE INTO listed (id, ssn, name) SELECT 10, IF(salary > 80000, 'yes', 'no'), 'x' FROM employee WHERE id = 1
SELECT id FROM listed ORDER BY id

INSERT INTO hashed (id, ssn) VALUES (500, 'yes'), (501, 'no')
REPLACE INTO hashed (id, ssn) SELECT 502, IF(salary > 80000, 'yes', 'no') FROM employee WHERE id = 1
SELECT id FROM hashed ORDER BY id

REPLACE INTO employee (id, name, ssn) SELECT 502, 'x', k FROM ai JOIN employee e ON e.id = ai.id
SELECT id FROM employee ORDER BY id

UPDATE lost SET code = '721-07-4426' WHERE name = 'Alice Moreau'
SELECT id, code IS NULL FROM loser ORDER BY id

UPDATE lost SET code = IF(code > '5', code, 'z') WHERE name = 'Alice Moreau'
SELECT id, code IS NULL FROM loser ORDER BY id

UPDATE IGNORE kept SET code = '721-07-4426', name = 'same'
SELECT name FROM kept ORDER BY name

-- names of stored functions
SELECT COUNT(*), MAX (id) FROM dept

SELECT COUNT (id) FROM dept

SELECT `count`(id) FROM dept

SELECT hr.count(1), UPPER('x')

SELECT COUNT(*), COUNT(DISTINCT name), COUNT(id) OVER () FROM dept

SELECT upper (name), `upper`(name) FROM dept
