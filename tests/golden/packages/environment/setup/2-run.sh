mkdir -p /var/log/app && echo start > /var/log/app/log
