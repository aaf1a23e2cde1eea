package tpcc

// The functions of PostgreSQL. A call is a statement of its own and thereby a
// transaction: an error rolls all of it back. Each returns one number. Names
// that begin with v_ are variables, with in_ parameters; PL/pgSQL must not take
// them for columns.

const (
	postgresHead = ` RETURNS INT LANGUAGE plpgsql AS $body$
`
	// postgresAborted is the state of the error that rolls an order back.
	postgresAborted = "TP001"
)

const postgresNewOrder = `
CREATE FUNCTION tprocc_new_order(in_w INT, in_d INT, in_c INT, in_warehouses INT, in_lines INT, in_seed BIGINT, in_bad INT, in_at TIMESTAMP)` + postgresHead + `
DECLARE
	v_discount NUMERIC;
	v_wtax NUMERIC;
	v_dtax NUMERIC;
	v_o INT;
	v_item INT;
	v_supply INT;
	v_quantity INT;
	v_price NUMERIC;
	v_dist CHAR(24);
	v_local INT := 1;
BEGIN
	SELECT c_discount INTO v_discount FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = in_c;
	SELECT w_tax INTO v_wtax FROM warehouse WHERE w_id = in_w;
	UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = in_w AND d_id = in_d RETURNING d_next_o_id - 1, d_tax INTO v_o, v_dtax;
	FOR v_line IN 1 .. in_lines LOOP
		in_seed := in_seed * 48271 % 2147483647;
		v_item := 1 + in_seed % 100000;
		in_seed := in_seed * 48271 % 2147483647;
		v_quantity := 1 + in_seed % 10;
		in_seed := in_seed * 48271 % 2147483647;
		v_supply := in_w;
		IF in_warehouses > 1 AND in_seed % 100 = 0 THEN
			in_seed := in_seed * 48271 % 2147483647;
			v_supply := 1 + (in_w + in_seed % (in_warehouses - 1)) % in_warehouses;
			v_local := 0;
		END IF;
		IF in_bad = 1 AND v_line = in_lines THEN
			v_item := 100001;
		END IF;
		SELECT i_price INTO v_price FROM item WHERE i_id = v_item;
		IF NOT FOUND THEN
			RAISE EXCEPTION 'no such item' USING ERRCODE = '` + postgresAborted + `';
		END IF;
		UPDATE stock SET s_quantity = CASE WHEN s_quantity >= v_quantity + 10 THEN s_quantity - v_quantity ELSE s_quantity + 91 - v_quantity END
			WHERE s_i_id = v_item AND s_w_id = v_supply
			RETURNING CASE in_d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
				WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END INTO v_dist;
		INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info)
			VALUES (v_o, in_d, in_w, v_line, v_item, v_supply, v_quantity, ROUND(v_quantity * v_price * (1 + v_wtax + v_dtax) * (1 - v_discount), 2), v_dist);
	END LOOP;
	INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (v_o, in_d, in_w, in_c, in_at, in_lines, v_local);
	INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o, in_d, in_w);
	RETURN v_o;
END $body$`

// The customer v_c is the one given, or the middle one of those with the last
// name.
const (
	postgresFindPayment = `
	v_c := in_c;
	IF in_c = 0 THEN
		SELECT COUNT(*) INTO v_n FROM customer WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_last = in_last;
		SELECT c_id INTO v_c FROM customer WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_last = in_last
			ORDER BY c_first OFFSET GREATEST(v_n - 1, 0) / 2 LIMIT 1;
	END IF;`
	postgresFindStatus = `
	v_c := in_c;
	IF in_c = 0 THEN
		SELECT COUNT(*) INTO v_n FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last;
		SELECT c_id INTO v_c FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_last = in_last
			ORDER BY c_first OFFSET GREATEST(v_n - 1, 0) / 2 LIMIT 1;
	END IF;`
)

const postgresPayment = `
CREATE FUNCTION tprocc_payment(in_w INT, in_d INT, in_cw INT, in_cd INT, in_c INT, in_last VARCHAR, in_amount NUMERIC, in_at TIMESTAMP)` + postgresHead + `
DECLARE
	v_n INT;
	v_c INT;
	v_wname VARCHAR;
	v_dname VARCHAR;
	v_credit CHAR(2);
	v_data VARCHAR;
BEGIN
	UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w RETURNING w_name INTO v_wname;
	UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w AND d_id = in_d RETURNING d_name INTO v_dname;` + postgresFindPayment + `
	SELECT c_credit, c_data INTO v_credit, v_data FROM customer WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_id = v_c FOR UPDATE;
	IF v_credit = 'BC' THEN
		v_data := LEFT(v_c || ' ' || in_cd || ' ' || in_cw || ' ' || in_d || ' ' || in_w || ' ' || in_amount || ' | ' || v_data, 500);
	END IF;
	UPDATE customer SET c_balance = c_balance - in_amount, c_data = v_data WHERE c_w_id = in_cw AND c_d_id = in_cd AND c_id = v_c;
	INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data)
		VALUES (in_cd, in_cw, v_c, in_d, in_w, in_at, in_amount, v_wname || '    ' || v_dname);
	RETURN v_c;
END $body$`

const postgresOrderStatus = `
CREATE FUNCTION tprocc_order_status(in_w INT, in_d INT, in_c INT, in_last VARCHAR)` + postgresHead + `
DECLARE
	v_n INT;
	v_c INT;
	v_o INT;
	v_lines INT;
	v_balance NUMERIC;
	v_amount NUMERIC;
BEGIN` + postgresFindStatus + `
	SELECT c_balance INTO v_balance FROM customer WHERE c_w_id = in_w AND c_d_id = in_d AND c_id = v_c;
	SELECT o_id INTO v_o FROM orders WHERE o_w_id = in_w AND o_d_id = in_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
	SELECT COUNT(ol_i_id), SUM(ol_amount) INTO v_lines, v_amount FROM order_line WHERE ol_o_id = v_o AND ol_d_id = in_d AND ol_w_id = in_w;
	RETURN v_lines;
END $body$`

const postgresDelivery = `
CREATE FUNCTION tprocc_delivery(in_w INT, in_carrier INT, in_at TIMESTAMP)` + postgresHead + `
DECLARE
	v_o INT;
	v_c INT;
	v_amount NUMERIC;
	v_done INT := 0;
BEGIN
	FOR v_d IN 1 .. 10 LOOP
		SELECT no_o_id INTO v_o FROM new_order WHERE no_w_id = in_w AND no_d_id = v_d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
		CONTINUE WHEN NOT FOUND;
		DELETE FROM new_order WHERE no_o_id = v_o AND no_d_id = v_d AND no_w_id = in_w;
		UPDATE orders SET o_carrier_id = in_carrier WHERE o_id = v_o AND o_d_id = v_d AND o_w_id = in_w RETURNING o_c_id INTO v_c;
		UPDATE order_line SET ol_delivery_d = in_at WHERE ol_o_id = v_o AND ol_d_id = v_d AND ol_w_id = in_w;
		SELECT SUM(ol_amount) INTO v_amount FROM order_line WHERE ol_o_id = v_o AND ol_d_id = v_d AND ol_w_id = in_w;
		UPDATE customer SET c_balance = c_balance + v_amount WHERE c_w_id = in_w AND c_d_id = v_d AND c_id = v_c;
		v_done := v_done + 1;
	END LOOP;
	RETURN v_done;
END $body$`

const postgresStockLevel = `
CREATE FUNCTION tprocc_stock_level(in_w INT, in_d INT, in_threshold INT)` + postgresHead + `
DECLARE
	v_next INT;
	v_low INT;
BEGIN
	SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = in_w AND d_id = in_d;
	SELECT COUNT(DISTINCT s_i_id) INTO v_low FROM order_line, stock WHERE ol_w_id = in_w AND ol_d_id = in_d
		AND ol_o_id < v_next AND ol_o_id >= v_next - 20 AND s_w_id = in_w AND s_i_id = ol_i_id AND s_quantity < in_threshold;
	RETURN v_low;
END $body$`
