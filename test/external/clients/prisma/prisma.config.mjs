// `prisma generate` reads no database.
export default { schema: 'schema.prisma', datasource: { url: 'postgres://localhost/unused' } }
