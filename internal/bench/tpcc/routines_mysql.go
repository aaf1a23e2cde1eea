package tpcc

// The procedures of MySQL and MariaDB. Each begins and ends its transaction; an
// error rolls it back and goes on to the caller. Each returns one row of one
// number.

const mysqlHandler = `
	DECLARE EXIT HANDLER FOR SQLEXCEPTION
	BEGIN
		ROLLBACK;
		RESIGNAL;
	END;
	START TRANSACTION;`

// The customer v_c is the one given, or the middle one of those with the last
// name.
const mysqlFindPayment = `
	SET v_c = in_c;
	IF in_c = 0 THEN
		SELECT COUNT(*) INTO v_n FROM customer WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_last = in_last;
		SET v_n = GREATEST(v_n - 1, 0) DIV 2;
		SELECT c_id INTO v_c FROM customer WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_last = in_last ORDER BY c_first LIMIT v_n, 1;
	END IF;`

const mysqlFindStatus = `
	SET v_c = in_c;
	IF in_c = 0 THEN
		SELECT COUNT(*) INTO v_n FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last;
		SET v_n = GREATEST(v_n - 1, 0) DIV 2;
		SELECT c_id INTO v_c FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last ORDER BY c_first LIMIT v_n, 1;
	END IF;`

const mysqlNewOrder = `
CREATE PROCEDURE tprocc_new_order(IN in_w INT, IN in_d INT, IN in_c INT, IN in_warehouses INT, IN in_lines INT, IN in_seed BIGINT, IN in_bad INT, IN in_at DATETIME)
entry: BEGIN
	DECLARE v_discount, v_wtax, v_dtax DECIMAL(4,4);
	DECLARE v_o, v_item, v_supply, v_quantity, v_stock INT;
	DECLARE v_price DECIMAL(5,2);
	DECLARE v_dist CHAR(24);
	DECLARE v_line, v_local INT DEFAULT 1;` + mysqlHandler + `
	SELECT c_discount INTO v_discount FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = in_c;
	SELECT w_tax INTO v_wtax FROM warehouse WHERE w_id = in_w;
	SELECT d_next_o_id, d_tax INTO v_o, v_dtax FROM district WHERE d_w_id = in_w AND d_id = in_d FOR UPDATE;
	UPDATE district SET d_next_o_id = v_o + 1 WHERE d_w_id = in_w AND d_id = in_d;
	WHILE v_line <= in_lines DO
		SET in_seed = MOD(in_seed * 48271, 2147483647), v_item = 1 + MOD(in_seed, 100000);
		SET in_seed = MOD(in_seed * 48271, 2147483647), v_quantity = 1 + MOD(in_seed, 10);
		SET in_seed = MOD(in_seed * 48271, 2147483647), v_supply = in_w;
		IF in_warehouses > 1 AND MOD(in_seed, 100) = 0 THEN
			SET in_seed = MOD(in_seed * 48271, 2147483647), v_supply = 1 + MOD(in_w + MOD(in_seed, in_warehouses - 1), in_warehouses), v_local = 0;
		END IF;
		IF in_bad = 1 AND v_line = in_lines THEN
			SET v_item = 100001;
		END IF;
		SET v_price = NULL;
		SELECT i_price INTO v_price FROM item WHERE i_id = v_item;
		IF v_price IS NULL THEN
			ROLLBACK;
			SELECT -1;
			LEAVE entry;
		END IF;
		SELECT s_quantity, CASE in_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
			WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
			INTO v_stock, v_dist FROM stock WHERE s_i_id = v_item AND s_w_id = v_supply FOR UPDATE;
		UPDATE stock SET s_quantity = IF(v_stock >= v_quantity + 10, v_stock - v_quantity, v_stock + 91 - v_quantity)
			WHERE s_i_id = v_item AND s_w_id = v_supply;
		INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
			VALUES (v_o, in_d, in_w, v_line, v_item, v_supply, v_quantity, ROUND(v_quantity * v_price * (1 + v_wtax + v_dtax) * (1 - v_discount), 2), v_dist);
		SET v_line = v_line + 1;
	END WHILE;
	INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (v_o, in_d, in_w, in_c, in_at, in_lines, v_local);
	INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o, in_d, in_w);
	COMMIT;
	SELECT v_o;
END`

const mysqlPayment = `
CREATE PROCEDURE tprocc_payment(IN in_w INT, IN in_d INT, IN in_cw INT, IN in_cd INT, IN in_c INT, IN in_last VARCHAR(16), IN in_amount DECIMAL(6,2), IN in_at DATETIME)
BEGIN
	DECLARE v_n, v_c INT;
	DECLARE v_wname, v_dname VARCHAR(10);
	DECLARE v_credit CHAR(2);
	DECLARE v_data VARCHAR(500);
	DECLARE v_balance DECIMAL(12,2);` + mysqlHandler + `
	UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w;
	SELECT w_name INTO v_wname FROM warehouse WHERE w_id = in_w;
	UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w AND d_id = in_d;
	SELECT d_name INTO v_dname FROM district WHERE d_w_id = in_w AND d_id = in_d;` + mysqlFindPayment + `
	SELECT c_credit, c_balance, c_data INTO v_credit, v_balance, v_data FROM customer
		WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_id = v_c FOR UPDATE;
	IF v_credit = 'BC' THEN
		SET v_data = LEFT(CONCAT(v_c, ' ', in_cd, ' ', in_cw, ' ', in_d, ' ', in_w, ' ', in_amount, ' | ', v_data), 500);
	END IF;
	UPDATE customer SET c_balance = v_balance + in_amount, c_data = v_data WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_id = v_c;
	INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
		VALUES (in_cd, in_cw, v_c, in_d, in_w, in_at, in_amount, CONCAT(v_wname, '    ', v_dname));
	COMMIT;
	SELECT v_c;
END`

const mysqlOrderStatus = `
CREATE PROCEDURE tprocc_order_status(IN in_w INT, IN in_d INT, IN in_c INT, IN in_last VARCHAR(16))
BEGIN
	DECLARE v_n, v_c, v_o, v_lines INT;
	DECLARE v_balance, v_amount DECIMAL(12,2);` + mysqlHandler + mysqlFindStatus + `
	SELECT c_balance INTO v_balance FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = v_c;
	SELECT o_id INTO v_o FROM orders WHERE o_w_id = in_w AND o_d_id = in_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
	SELECT COUNT(ol_i_id), SUM(ol_amount) INTO v_lines, v_amount FROM order_line WHERE ol_o_id = v_o AND ol_d_id = in_d AND ol_w_id = in_w;
	COMMIT;
	SELECT v_lines;
END`

const mysqlDelivery = `
CREATE PROCEDURE tprocc_delivery(IN in_w INT, IN in_carrier INT, IN in_at DATETIME)
BEGIN
	DECLARE v_o, v_c INT;
	DECLARE v_amount DECIMAL(12,2);
	DECLARE v_d INT DEFAULT 1;
	DECLARE v_done INT DEFAULT 0;` + mysqlHandler + `
	WHILE v_d <= 10 DO
		SET v_o = NULL;
		SELECT no_o_id INTO v_o FROM new_order WHERE no_w_id = in_w AND no_d_id = v_d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
		IF v_o IS NOT NULL THEN
			DELETE FROM new_order WHERE no_o_id = v_o AND no_d_id = v_d AND no_w_id = in_w;
			SELECT o_c_id INTO v_c FROM orders WHERE o_id = v_o AND o_d_id = v_d AND o_w_id = in_w;
			UPDATE orders SET o_carrier_id = in_carrier WHERE o_id = v_o AND o_d_id = v_d AND o_w_id = in_w;
			UPDATE order_line SET ol_delivery_d = in_at WHERE ol_o_id = v_o AND ol_d_id = v_d AND ol_w_id = in_w;
			SELECT SUM(ol_amount) INTO v_amount FROM order_line WHERE ol_o_id = v_o AND ol_d_id = v_d AND ol_w_id = in_w;
			UPDATE customer SET c_balance = c_balance + v_amount WHERE c_w_id = in_w AND c_d_id = v_d AND c_id = v_c;
			SET v_done = v_done + 1;
		END IF;
		SET v_d = v_d + 1;
	END WHILE;
	COMMIT;
	SELECT v_done;
END`

const mysqlStockLevel = `
CREATE PROCEDURE tprocc_stock_level(IN in_w INT, IN in_d INT, IN in_threshold INT)
BEGIN
	DECLARE v_next, v_low INT;` + mysqlHandler + `
	SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = in_w AND d_id = in_d;
	SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line, stock WHERE ol_w_id = in_w AND ol_d_id = in_d
		AND ol_o_id < v_next AND ol_o_id >= v_next - 20 AND s_w_id = in_w AND s_i_id = ol_i_id AND s_quantity < in_threshold;
	COMMIT;
	SELECT v_low;
END`
