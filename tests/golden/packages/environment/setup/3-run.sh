id -un > /srv/web/who
