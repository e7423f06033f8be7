// node-zookeeper-client has no types; zookeeper-client-package.ts says what we use of it.
declare module "node-zookeeper-client/lib/ConnectionManager.js" {
  const ConnectionManager: unknown;
  export default ConnectionManager;
}
declare module "node-zookeeper-client/lib/jute/index.js" {
  const jute: unknown;
  export default jute;
}
