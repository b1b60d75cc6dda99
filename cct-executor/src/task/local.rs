pub struct LocalKey<T>(T); pub struct TaskLocalFuture;
