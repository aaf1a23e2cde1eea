-- What the tools look at: a shop with protected columns, and one object of each kind.
CREATE TABLE companies (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL) COMMENT 'who buys';
CREATE TABLE users (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, email VARCHAR(120) UNIQUE, phone VARCHAR(30),
	company_id INT, version INT NOT NULL DEFAULT 0, created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
	CONSTRAINT users_company FOREIGN KEY (company_id) REFERENCES companies (id) ON DELETE SET NULL, CHECK (version >= 0));
CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, total DECIMAL(10,2) NOT NULL, status VARCHAR(20) NOT NULL DEFAULT 'open',
	card_number VARCHAR(25), KEY (user_id), FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE VIEW company_users AS SELECT u.id, u.name, u.email, c.name AS company FROM users u LEFT JOIN companies c ON c.id = u.company_id;
CREATE TRIGGER users_made BEFORE INSERT ON users FOR EACH ROW SET NEW.version = COALESCE(NEW.version, 0);
CREATE DEFINER = app@'%' PROCEDURE sweep(IN n INT) DELETE FROM companies WHERE id > n;
CREATE DEFINER = app@'%' FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2;
CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM companies WHERE id < 0;
INSERT INTO companies (name) VALUES ('Acme'), ('Globex');
INSERT INTO users (name, email, phone, company_id) VALUES ('Al', 'al@example.org', '+1-555-0101', 1), ('Bo', 'bo@example.org', '+1-555-0102', 2), ('Ci', NULL, NULL, NULL);
INSERT INTO orders (user_id, total, status, card_number) VALUES (1, 40, 'paid', '4111-1111-1111-1111'), (2, 200, 'open', '5500-0000-0000-0004');
