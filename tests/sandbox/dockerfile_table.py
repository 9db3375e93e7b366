"""Dockerfiles that cover the instructions: what two builders make of them must be the same files.

Each is a text, below `FROM debian:bookworm-slim` where it has no FROM of its own, and the files of its
context: a text, a text with a mode, `None` for a folder, `->x` for a link, `tar:gz` for an archive so
compressed. A `»` stands for a tab, a `·` for a blank at the end of a line.
"""

TABLE = {
    "run forms": (
        r"""
RUN echo shell >/out; echo "$0" >>/out
RUN ["/bin/sh", "-c", "echo json >>/out"]
RUN ["sh", "-c", "echo by path >>/out"]
RUN true && \
    # a comment

    echo joined >>/out
""",
        {},
    ),
    "shell": (
        """\
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN echo "$BASH_VERSINFO" | wc -l >/out
RUN shopt -q login_shell || echo bash >>/out
SHELL ["/bin/sh", "-ec"]
RUN echo "$-" | grep -c e >>/out
""",
        {},
    ),
    "user and home": (
        """\
RUN useradd -m -u 1500 app && groupadd -g 1600 team && usermod -aG team app
USER app
RUN id >/home/app/id; pwd >/home/app/pwd; echo $HOME >/home/app/home; umask >/home/app/umask
USER app:team
RUN id -g >/home/app/group
USER 1500
RUN id >/home/app/number
USER root:team
RUN id >/id
USER 4242:4243
WORKDIR /tmp
RUN touch who
""",
        {},
    ),
    "workdir": (
        """\
WORKDIR /a
WORKDIR b/c
RUN pwd >/out; touch here
ENV where=/d/e
WORKDIR $where/f
RUN pwd >>/out
WORKDIR /etc
WORKDIR relative
RUN pwd >>/out
RUN useradd -u 1500 app
USER app
WORKDIR /owned/by
""",
        {},
    ),
    "env": (
        r"""
ENV A=1 B="two words" C='three words' D=four\ words
ENV E old form with "quotes"
ENV F=$A-${B} G=\$A
ENV A=2 H=$A
ENV I=${none:-default} J=${A:+set} K=${none:+set} M="$A" N='$A'
RUN env | grep -E '^[A-N]=' | sort >/out
ENV PATH=/opt/bin:$PATH
RUN echo $PATH >>/out
""",
        {},
    ),
    "arg": (
        """\
ARG one=1
ARG two
ARG three=$one-3
RUN echo "[$one] [$two] [$three]" >/out
ENV one=env
RUN echo "[$one]" >>/out
ARG TARGETARCH
RUN test -n "$TARGETARCH" && echo known >>/out
""",
        {},
    ),
    "copy files": (
        """\
COPY one.txt /out/
COPY one.txt /out/two.txt
COPY one.txt sub/two.txt /out/more/
COPY run.sh /
COPY one.txt /opt
COPY ["a b.txt", "/with blank/"]
WORKDIR /w
COPY one.txt .
COPY one.txt rel/
COPY one.txt ./new
""",
        {"one.txt": "one", "sub/two.txt": "two", "run.sh": ("#!/bin/sh\n", 488), "a b.txt": "blank"},
    ),
    "copy folders": (
        """\
COPY tree /t1
COPY tree/ /t2/
COPY tree/. /t3
RUN mkdir -p /t4/deep && chmod 700 /t4/deep && echo old >/t4/a
COPY tree /t4
COPY . /all
COPY tree/deep tree/a /both/
""",
        {
            "tree/a": "a",
            "tree/deep/b": ("b", 384),
            "tree/empty": None,
            "tree/link": "->a",
            "tree/away": "->/etc/passwd",
        },
    ),
    "copy wildcards": (
        """\
COPY *.txt /texts/
COPY d*/ /folders/
COPY sub/*.t?t /subs/
COPY [ab].md /marks/
COPY su*/n*/x /x
""",
        {
            "a.txt": "a",
            "b.txt": "b",
            "c.py": "c",
            "d1/x": "1",
            "d2/y": "2",
            "sub/s.txt": "s",
            "sub/nest/x": "x",
            "a.md": "",
            "c.md": "",
        },
    ),
    "copy owners and modes": (
        """\
RUN useradd -u 1500 app && groupadd -g 1600 team
COPY --chown=app f /1
COPY --chown=app:team f /2
COPY --chown=1234 f /3
COPY --chown=1:2 d /4/new/deep
COPY --chmod=640 f /5
COPY --chmod=751 f /6
COPY --chown=app d /7/
ENV who=app
COPY --chown=$who f /8
USER app
COPY f /9
""",
        {"f": ("f", 388), "d/g": "g", "d/e/h": ("h", 493)},
    ),
    "copy links": (
        """\
COPY link /followed
COPY dirlink /folder
RUN ln -s /real /alias && mkdir /real && ln -s /real/file /afile && echo x >/real/file
COPY f /alias/
COPY f /alias
COPY f /afile
""",
        {"f": "f", "link": "->f", "d/x": "x", "dirlink": "->d"},
    ),
    "copy replaces": (
        """\
RUN mkdir -p /o/sub && echo old >/o/f && ln -s /etc/passwd /o/l && echo old >/o/sub/x && chmod 600 /o/f
COPY d /o
""",
        {"d/f": "new", "d/l": "no link now", "d/sub/y": "y"},
    ),
    "dockerignore": (
        """\
COPY . /out
""",
        {
            ".dockerignore": "# comment\n*.log\n!keep.log\nnode_modules\n**/*.pyc\n/secret\n"
            "temp?\nd/**\n!d/kept\n.dockerignore\n",
            "a.log": "",
            "keep.log": "",
            "sub/b.log": "",
            "node_modules/x/y": "",
            "sub/node_modules/z": "",
            "m.pyc": "",
            "sub/deep/n.pyc": "",
            "secret/s": "",
            "sub/secret/s": "",
            "temp1": "",
            "temp12": "",
            "d/gone": "",
            "d/kept": "k",
            "d/e/gone": "",
            "plain": "p",
        },
    ),
    "add": (
        """\
ADD f /f
ADD data.tar.gz /unpacked/
ADD data.tar /plain
ADD notes.tar /text/
ADD d /d
""",
        {"f": "f", "d/x": "x", "data.tar.gz": "tar:gz", "data.tar": "tar:", "notes.tar": "no archive at all"},
    ),
    "stages": (
        """\
FROM debian:bookworm-slim AS build
ARG v=1
ENV inherited=yes
WORKDIR /b
RUN mkdir out && echo made >out/f && chown 7:8 out/f && ln -s f out/l && chmod 711 out
FROM debian:bookworm-slim AS unused
RUN false
FROM build AS next
RUN echo "$inherited [$v] $(pwd)" >/next
FROM debian:bookworm-slim
COPY --from=build /b/out /copied
COPY --from=0 /b/out/f /by-number
COPY --from=next /next /
COPY --from=BUILD /b/out/* /glob/
COPY --from=build --chown=9:9 /b/out/f /owned
COPY --from=debian:bookworm-slim /etc/debian_version /version
""",
        {},
    ),
    "global arguments": (
        """\
ARG tag=bookworm-slim
ARG flavour=plain
FROM debian:${tag} AS base
RUN echo "[$flavour]" >/out
ARG flavour
RUN echo "[$flavour]" >>/out
ARG flavour=other
RUN echo "[$flavour]" >>/out
FROM base
ARG tag
RUN echo "[$tag]" >>/out
""",
        {},
    ),
    "heredocs": (
        r"""
ENV name=World
RUN <<EOF
set -e
echo "Hello $name" >/out
echo second >>/out
EOF
RUN cat <<A >>/out && cat <<'B' >>/out
of $name
A
of $name
B
COPY <<EOF /made/conf
name=$name
plain=\$name
EOF
COPY <<"EOF" /made/raw
$name \n stays
EOF
COPY <<-one <<two /made/many/
»tabs
»»gone
one
»kept
two
RUN <<X
#!/bin/bash
echo $BASH_VERSINFO | wc -l >/made/script
X
""",
        {},
    ),
    "escape": (
        """\
# escape=`
FROM debian:bookworm-slim
RUN echo one `
  two >/out
ENV a=x` y
RUN echo "$a" >>/out
""",
        {},
    ),
    "without files": (
        """\
MAINTAINER somebody
LABEL a=b "c d"="e f"
EXPOSE 80 443/udp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s CMD true
ENTRYPOINT ["/bin/echo"]
CMD ["x"]
ONBUILD RUN exit 1
RUN echo done >/out
""",
        {},
    ),
    "onbuild": (
        """\
FROM debian:bookworm-slim AS parent
RUN echo parent >/out
ONBUILD RUN echo child >>/out
ONBUILD COPY f /f
FROM parent
RUN echo last >>/out
""",
        {"f": "f"},
    ),
    "mounts": (
        """\
RUN echo own >/opt/own && mkdir /empty
RUN --mount=type=cache,target=/opt ls -A /opt >/out && echo x >/opt/x && ls /opt >>/out
RUN --mount=type=bind,source=f,target=/etc/issue cat /etc/issue >>/out
RUN --mount=type=bind,source=d,target=/empty,rw cat /empty/e/g >>/out; touch /empty/gone
RUN --mount=type=tmpfs,target=/var/log touch /var/log/gone && ls /var/log >>/out
RUN --mount=type=secret,id=token test ! -s /run/secrets/token && echo no secret >>/out
""",
        {"f": "bound\n", "d/e/g": "in a folder\n"},
    ),
    "volume": (
        """\
RUN mkdir /v && echo before >/v/f
VOLUME /v
RUN echo after >>/v/f && echo new >/v/g
""",
        {},
    ),
    "deletions": (
        """\
RUN mkdir /d && touch /d/1 /d/2 && rm -rf /srv /home && rm /etc/issue
RUN rm -rf /d && mkdir /d && touch /d/3
RUN mv /opt /opt2; rmdir /media
""",
        {},
    ),
    "scratch": (
        """\
FROM scratch
COPY f /f
COPY d /d/
""",
        {"f": "f", "d/g": "g"},
    ),
    "odd spelling": (
        r"""


   # comment first
from debian:bookworm-slim
»run  echo   spaced   >/out
env A=1
Run echo "$A" \


>>/out·
""",
        {},
    ),
}
