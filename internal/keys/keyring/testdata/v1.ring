{
  "format": "veildb.keyring/1",
  "id": "2e968d23569a394470bfb70b4a192c0d",
  "generation": 4,
  "written": "2026-04-10T09:00:00Z",
  "rotate_days": 90,
  "root": {
    "provider": "file:/etc/veildb/root",
    "key_version": "7bc7a55a25b2529fc13d5696b444863d",
    "since": "2026-04-10T09:00:00Z",
    "blob": "AXvHpVolslKfwT1WlrREhj3nQJZ1MUW0dzY1mSUFPJNqDIye5a/1TdcAAAAAu1F29HM7zHyDEUhK/Xm86ZpZDD3wE/PCFZRd0koHaMSrC8exV+wLVUvrgwwvfZzM"
  },
  "retired_roots": [
    "babff653aaffda100663fa3976498eff"
  ],
  "keks": [
    {
      "version": 1,
      "created": "2026-03-11T09:00:00Z",
      "check": "NODp/eMUJYZCyfxjLquxyWAKkqn1wbUCBlLvA7HNmbY=",
      "blob": "7viNL/i0m60AAAAAJMVK3hUwOXujlfrW/Spm1S9IhfqU18k17WEH/1t2VCOFGGGGIbD/FxGycspkXxI1"
    },
    {
      "version": 2,
      "created": "2026-03-21T09:00:00Z",
      "check": "uB4Ootw/SzSoRS37zH8Ou/tqQFPuDOMSsxzPCK9vD8Q=",
      "blob": "agcxVg4eIC8AAAAAsWPBgadFCT3NqJMPLHrpsW9+pf/rTJxHBJl9kBdzERsPx7IeK0ULwl2j3DnL1SOc"
    },
    {
      "version": 3,
      "created": "2026-04-10T09:00:00Z",
      "check": "DC7yLfvVU0aiBSAh7k2Nh2mY2wXmK8sh7Cx/eS7T834="
    }
  ],
  "deks": [
    {
      "version": 1,
      "created": "2026-03-11T09:00:00Z",
      "check": "tj7tR7p3/CF8jWzXd0ts2SW5AcAJLnQNdOptXqXGoLw=",
      "blob": "rHWMc8Bga1wAAAAAFZn166Rg0pFCk6cRH++LvKPLZoW1e7mHhahOFc04Bm30KIORfgpAnPggu/INutxj"
    },
    {
      "version": 2,
      "created": "2026-03-31T09:00:00Z",
      "check": "2BGYMnK9/fxQ8IvL0Hw6EeXTmML8sOOa3bHttzbmeYw=",
      "blob": "5FwEV9ujx0YAAAAATG5saqF/gZw/eXlGxpE8uJPL5SNm6GROqDrlBbbgREWEwdh2hObLv2Hhx+/2J3Wv"
    }
  ],
  "mac": "c8f31ea682491ec6101c94d963ac265d00247a76f1bb5c979f0ec45a4736c8c7",
  "sum": "9a00002d3b49b7c518a749ea30582c6478945308c8e30aa453bfa07864f64ba8"
}
