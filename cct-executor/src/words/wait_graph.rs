//! Who waits for whom, and in what circles.

use super::explanation::{TaskState, TaskStory};
use std::collections::{BTreeMap, BTreeSet};

/// The circles in the wait-for graph, each once, from its smallest task number. A task that can
/// go on is in none; one with several waits is followed through each.
pub fn find_cycles(tasks: &[TaskStory]) -> Vec<Vec<u32>> {
    let waiting = tasks.iter().filter(|t| t.state == TaskState::Waiting);
    let holders = |t: &TaskStory| {
        let holders = t.waits.iter().flat_map(|wait| &wait.holders);
        holders.filter_map(|holder| holder.task).collect()
    };
    // Of many tasks few are in a circle, and what leads there or away from it would be walked again and again.
    let waits = turned(within(turned(within(
        waiting.map(|t| (t.task, holders(t))).collect(),
    ))));
    let waits_for = |task: u32| waits.get(&task).into_iter().flatten().copied();
    let mut cycles: Vec<Vec<u32>> = Vec::new();
    for &start in waits.keys() {
        // Depth-first from the smallest member, through larger ones only.
        let mut path = vec![start];
        let mut branches = vec![waits_for(start).collect::<Vec<_>>()];
        let mut visited = BTreeSet::from([start]);
        while let Some(branch) = branches.last_mut() {
            match branch.pop() {
                None => {
                    branches.pop();
                    path.pop();
                }
                Some(next) if next == start => {
                    if !cycles.contains(&path) {
                        cycles.push(path.clone());
                    }
                }
                Some(next) if next > start && visited.insert(next) => {
                    path.push(next);
                    branches.push(waits_for(next).collect());
                }
                Some(_) => {}
            }
        }
    }
    cycles
}

/// Who waits for whom.
type Graph = BTreeMap<u32, BTreeSet<u32>>;

/// The same with every wait the other way round.
fn turned(graph: Graph) -> Graph {
    let mut turned: Graph = graph.keys().map(|&task| (task, BTreeSet::new())).collect();
    for (from, to) in graph {
        for to in to {
            turned.entry(to).or_default().insert(from);
        }
    }
    turned
}

/// Without those from whom no way leads into a circle.
fn within(mut graph: Graph) -> Graph {
    let mut free: Vec<u32> = Vec::new();
    let mut waited_for_by = turned(graph.clone());
    for task in waited_for_by.keys() {
        if graph.get(task).is_none_or(BTreeSet::is_empty) {
            free.push(*task);
        }
    }
    while let Some(task) = free.pop() {
        graph.remove(&task);
        for other in waited_for_by.remove(&task).unwrap_or_default() {
            let Some(waits) = graph.get_mut(&other) else {
                continue;
            };
            waits.remove(&task);
            if waits.is_empty() {
                free.push(other);
            }
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::explanation::{Explanation, Holder, Wait};

    fn waiting(task: u32, for_tasks: &[u32]) -> TaskStory {
        let holders = for_tasks
            .iter()
            .map(|&t| Holder {
                may_have_moved: false,
                task: Some(t),
                name: t.to_string(),
                site: None,
            })
            .collect();
        TaskStory {
            standstills: 0,
            task,
            name: task.to_string(),
            spawned_at: String::new(),
            state: TaskState::Waiting,
            closure: false,
            last_op: String::new(),
            unwakeable: false,
            waker_taken_at: None,
            thread_wait: None,
            thread_waits_at: None,
            waits: vec![Wait {
                op: String::new(),
                resource: None,
                site: String::new(),
                holders,
                exclusive: true,
                state: None,
                uses: None,
                overtaken: None,
            }],
        }
    }

    #[test]
    fn finds_each_cycle_once_from_its_smallest_member() {
        let tasks = [
            waiting(0, &[2]),
            waiting(1, &[3]),
            waiting(2, &[4]),
            waiting(3, &[1]),
            waiting(4, &[0]),
        ];
        assert_eq!(find_cycles(&tasks), [vec![0, 2, 4], vec![1, 3]]);
    }

    #[test]
    fn a_chain_and_a_task_that_can_go_on_make_no_cycle() {
        let mut ready = waiting(2, &[0]);
        ready.state = TaskState::Ready;
        let tasks = [waiting(0, &[1]), waiting(1, &[2]), ready];
        assert_eq!(find_cycles(&tasks), Vec::<Vec<u32>>::new());
    }

    #[test]
    fn who_also_waits_for_something_else_is_not_stuck() {
        let mut explanation = Explanation {
            tasks: vec![waiting(0, &[1]), waiting(1, &[0]), waiting(2, &[0])],
            ..Explanation::default()
        };
        assert_eq!(explanation.stuck_together(), [0, 1]);
        let timer = Wait {
            exclusive: false,
            ..waiting(0, &[]).waits.remove(0)
        };
        explanation.tasks[1].waits.push(timer);
        assert!(explanation.stuck_together().is_empty());
    }

    #[test]
    fn many_tasks_around_a_circle_are_looked_at_once() {
        // One circle, 100,000 tasks that wait for it one behind the other, and as many that it waits for.
        let many = 100_000;
        let mut tasks = vec![waiting(0, &[1]), waiting(1, &[0, many + 2])];
        tasks.extend((2..many + 2).map(|task| waiting(task, &[task - 1])));
        tasks.extend((many + 2..2 * many).map(|task| waiting(task, &[task + 1])));
        assert_eq!(find_cycles(&tasks), [[0, 1]]);
    }
}
