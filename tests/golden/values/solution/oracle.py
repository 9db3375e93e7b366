import csv, json
with open("/app/ledger.csv") as file:
    total = sum(int(row["amount"]) for row in csv.DictReader(file))
with open("/app/total.json", "w") as file:
    json.dump({"total": total, "unit": 'pence'}, file)
