touch /app/a /app/b /srv/extra
printf '{"made_on": "today"}' > /app/out.json
