// Reads the test table with mysql2. See ../README.md.
const fs = require("node:fs");
const mysql = require("mysql2/promise");

const query = "SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people";

function show(value) {
  if (value === null) return "NULL";
  if (Buffer.isBuffer(value)) return "0x" + value.toString("hex");
  return String(value);
}

function fail(kind, error) {
  console.log([kind, "error", String(error.message || error).replace(/\s+/g, " ")].join("\t"));
}

async function read(kind, answer) {
  const [rows, fields] = await answer;
  rows.forEach((row, n) => fields.forEach((f) => {
    const value = row[f.name];
    const kindOf = value === null ? "null" : value.constructor.name;
    const type = [f.columnType, f.characterSet, f.flags, f.decimals, f.columnLength, kindOf].join(",");
    console.log([kind, n + 1, f.name, type, show(value)].join("\t"));
  }));
}

async function main() {
  const ca = process.env.VEIL_CA;
  let db;
  try {
    db = await mysql.createConnection({
      host: "127.0.0.1", port: Number(process.env.VEIL_PORT), database: "shop",
      user: process.env.VEIL_USER, password: process.env.VEIL_PASSWORD,
      supportBigNumbers: true, bigNumberStrings: true, dateStrings: true,
      ssl: ca ? { ca: fs.readFileSync(ca) } : undefined,
    });
  } catch (e) {
    fail("text", e);
    fail("prepared", e);
    return;
  }
  await read("text", db.query(query + " ORDER BY id")).catch((e) => fail("text", e));
  await read("prepared", db.execute(query + " WHERE id >= ? ORDER BY id", [1])).catch((e) => fail("prepared", e));
  await db.end();
}

main();
