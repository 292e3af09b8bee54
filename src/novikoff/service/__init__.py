"""The service: predictions over HTTP now, their labels later, in a log that survives kill -9 (extra "serve").

records      what is logged: predictions and labels
event_log    the protocol of a log; sqlite_log and postgres_log implement it, sql_log is what they share
features     names, kinds and values of features; columns of a block for the model
online_model a StreamModel that learns labels in the order of the log
plan         one batch: what its requests lead to, before anything is logged
writer       the one thread that logs, learns and answers
folder       data folders: lock, first model, snapshots
replay       learning a log again
ledger       mistakes served, updates, and the bounds that hold for them
web          HTTP
"""
