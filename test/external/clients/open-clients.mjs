// Each client as an application has it: how it opens a transaction, and how it writes an order in it. The packages are installed
// by scripts/test/clients.mjs, if at all.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const load = (name) => require(name)
const requirePrisma = createRequire(new URL('prisma/package.json', import.meta.url))

const INSERT = 'insert into orders (item) values ($1)'

export const clients = {
  async pg(url) {
    const pool = new (load('pg').Pool)({ connectionString: url })
    return {
      async transaction(work) {
        const tx = await pool.connect()
        try {
          await tx.query('begin')
          const value = await work(tx)
          await tx.query('commit')
          return value
        } catch (error) {
          await tx.query('rollback')
          throw error
        } finally {
          tx.release()
        }
      },
      order: (tx, item) => tx.query(INSERT, [item]),
      outside: pool,
      close: () => pool.end(),
    }
  },

  async 'postgres.js'(url) {
    const sql = load('postgres')(url, {
      onnotice() {},
    })
    return {
      transaction: (work) => sql.begin(work),
      order: (tx, item) => tx`insert into orders (item) values (${item})`,
      outside: sql,
      close: () => sql.end(),
    }
  },

  async 'Drizzle over pg'(url) {
    const pool = new (load('pg').Pool)({ connectionString: url })
    return openDrizzle(load('drizzle-orm/node-postgres').drizzle(pool), () => pool.end())
  },

  async 'Drizzle over postgres.js'(url) {
    const sql = load('postgres')(url)
    return openDrizzle(load('drizzle-orm/postgres-js').drizzle(sql), () => sql.end())
  },

  async Kysely(url) {
    const { CamelCasePlugin, Kysely, PostgresDialect } = load('kysely')
    const pool = new (load('pg').Pool)({ connectionString: url })
    const db = new Kysely({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
    return {
      transaction: (work) => db.transaction().execute(work),
      order: (tx, item) => tx.insertInto('orders').values({ item }).execute(),
      outside: db,
      close: () => db.destroy(),
    }
  },

  async Knex(url) {
    const knex = load('knex')({
      client: 'pg',
      connection: url,
      // As knexSnakeCaseMappers of Objection does.
      postProcessResponse: (answer) => answer && { camelCased: true },
    })
    return {
      transaction: (work) => knex.transaction(work),
      order: (tx, item) => tx('orders').insert({ item }),
      outside: knex,
      close: () => knex.destroy(),
    }
  },

  async TypeORM(url) {
    load('reflect-metadata')
    const { DataSource } = load('typeorm')
    const source = await new DataSource({ type: 'postgres', url }).initialize()
    return {
      transaction: (work) => source.transaction(work),
      order: (tx, item) => tx.query(INSERT, [item]),
      outside: source,
      close: () => source.destroy(),
    }
  },

  async Prisma(url) {
    const { PrismaClient } = requirePrisma('@prisma/client')
    const { PrismaPg } = requirePrisma('@prisma/adapter-pg')
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) })
    return {
      transaction: (work) => prisma.$transaction(work),
      order: (tx, item) => tx.order.create({ data: { item } }),
      outside: prisma,
      close: () => prisma.$disconnect(),
    }
  },
}

function openDrizzle(db, close) {
  const { pgTable, serial, text } = load('drizzle-orm/pg-core')
  const orders = pgTable('orders', { id: serial('id').primaryKey(), item: text('item').notNull() })
  return {
    transaction: (work) => db.transaction(work),
    order: (tx, item) => tx.insert(orders).values({ item }),
    outside: db,
    close,
  }
}

/** Whether the packages of a client are installed. */
export function isInstalled(name) {
  const packages = {
    'postgres.js': 'postgres',
    TypeORM: 'typeorm',
    Knex: 'knex',
    Kysely: 'kysely',
  }
  try {
    if (name === 'Prisma') requirePrisma.resolve('.prisma/client/default')
    else require.resolve(name.startsWith('Drizzle') ? 'drizzle-orm' : (packages[name] ?? name))
    return true
  } catch {
    return false
  }
}
