export { redisLimiter, type RedisLimiterOptions } from './limiter/redis-limiter.ts'
export { redisTokenStore, type RedisTokenStoreOptions } from './store/redis-token-store.ts'
export type { RedisClient } from './redis-client.ts'
