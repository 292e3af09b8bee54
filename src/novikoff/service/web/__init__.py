"""The service over HTTP: a thin layer that reads requests, hands them to a writer, and writes its answers.

wire         what bodies hold, as types
operations   which calls there are, in one table: paths, types, scopes
openapi      the OpenAPI document of that table
application  the ASGI application
"""
