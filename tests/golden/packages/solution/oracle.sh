cp /app/.env /app/found.txt
