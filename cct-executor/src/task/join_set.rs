pub struct JoinSet;
