export { redisLimiter, type RedisLimiterOptions } from './redis-limiter.ts'
export { redisTokenStore, type RedisTokenStoreOptions } from './redis-token-store.ts'
export type { RedisClient } from './redis-client.ts'
