"""The HTTP server: one route per command, health, readiness, metrics and the OpenAPI document."""
