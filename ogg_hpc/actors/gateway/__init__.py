"""The controller of a node: where hosts from outside the job reach its learners.

A process of its own (`server`) speaks gRPC with the hosts (`session`) and, through a Unix socket
each, with the learners of its node (`link`). It understands the first message of a host alone, the
hello; all others it passes on as they are, frame by frame.
"""
