import bullmq from './bullmq-redis.mjs'

export default {
  ...bullmq,
  name: 'BullMQ on Redis, appendfsync always',
  needs: 'redis-fsync',
}
