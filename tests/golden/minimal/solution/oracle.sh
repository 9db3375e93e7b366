printf 'hello\n' > /app/greeting.txt
