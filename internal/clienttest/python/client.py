"""Reads the test table with the driver its argument names. See ../README.md."""

import os
import sys

QUERY = "SELECT id, plain, c_int, c_ubig, c_dec, c_text, c_date, c_dt, c_blob FROM people"


def connect(driver):
    options = dict(host="127.0.0.1", port=int(os.environ["VEIL_PORT"]), user=os.environ["VEIL_USER"],
                   password=os.environ["VEIL_PASSWORD"], database="shop", charset="utf8mb4")
    ca = os.environ.get("VEIL_CA")
    if driver == "pymysql":
        import pymysql
        if ca:
            options.update(ssl_ca=ca, ssl_verify_cert=True)
        return pymysql.connect(**options)
    import mysql.connector
    if ca:
        options.update(ssl_ca=ca, ssl_verify_cert=True)
    else:
        options.update(ssl_disabled=True)
    return mysql.connector.connect(use_pure=driver == "connector-pure", collation="utf8mb4_general_ci", **options)


def show(value):
    if value is None:
        return "NULL"
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    return str(value)


def read(kind, cursor, query, *args):
    cursor.execute(query, *args)
    for n, row in enumerate(cursor.fetchall(), 1):
        for d, value in zip(cursor.description, row):
            # name, type code, NULL allowed, as DB-API defines them
            print(kind, n, d[0], f"{d[1]},{d[6]},{type(value).__name__}", show(value), sep="\t")


def fail(kind, error):
    print(kind, "error", " ".join(f"{type(error).__name__}: {error}".split()), sep="\t")


def main():
    driver = sys.argv[1]
    try:
        db = connect(driver)
    except Exception as e:
        fail("text", e)
        fail("prepared", e)
        return
    try:
        read("text", db.cursor(), QUERY + " ORDER BY id")
    except Exception as e:
        fail("text", e)
    if driver != "pymysql":  # which has no prepared statements
        try:
            read("prepared", db.cursor(prepared=True), QUERY + " WHERE id >= %s ORDER BY id", (1,))
        except Exception as e:
            fail("prepared", e)
    db.close()


main()
