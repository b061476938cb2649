// What the API uses of @hono/zod-openapi. The build puts that package into this file (ADR 0015), so nothing else imports it.
export { createRoute, extendZodWithOpenApi, OpenAPIHono } from '@hono/zod-openapi'
