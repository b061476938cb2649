// The used part of @hono/zod-openapi, which the build bundles into this file (ADR 0015). Nothing else imports it.
export { createRoute, extendZodWithOpenApi, OpenAPIHono } from '@hono/zod-openapi'
