export { redisLimiter, type RedisLimiterOptions } from './redis-limiter.ts'
export type { LimiterClient } from './limiter-client.ts'
