use super::*;
use cct_executor::Seed;

/// Colours that never change; counts what is delivered.
struct Still {
    colours: [u64; NODES],
    delivered: usize,
}

impl System for Still {
    type Message = ();

    fn start_all(&mut self, _: &mut Wire<()>) {}
    fn colour(&self, node: usize) -> u64 {
        self.colours[node]
    }
    fn tick(&mut self, node: usize, wire: &mut Wire<()>) {
        wire.broadcast(node, ());
    }
    fn deliver(&mut self, _: Envelope<()>, _: &mut Wire<()>) {
        self.delivered += 1;
    }
    fn can_request(&self) -> bool {
        false
    }
    fn request(&mut self, _: u8, _: &mut Wire<()>) {}
    fn stop(&mut self, _: usize) {}
    fn start(&mut self, _: usize) {}
    fn is_out_of_bounds(&self) -> bool {
        false
    }
    fn check(&mut self) {}
}

fn environment(colours: [u64; NODES]) -> Environment<Still> {
    let rules = Rules {
        horizon: 1,
        crashes: 1,
    };
    let still = Still {
        colours,
        delivered: 0,
    };
    let mut environment = Environment::new(still, rules, Probe::default());
    environment.wire.noise = Seed(1).stream("test");
    environment
}

#[test]
fn partitions_that_look_alike_count_once() {
    for (colours, partitions, stops) in [([1, 1, 1], 3, 1), ([1, 2, 1], 4, 2), ([1, 2, 3], 5, 3)] {
        let mut environment = environment(colours);
        environment.list_partitions();
        assert_eq!(environment.count_partitions(), partitions, "{colours:?}");
        assert_eq!(environment.list_stops(&mut [0; NODES]), stops);
    }
}

#[test]
fn states_do_not_name_nodes_or_blocks() {
    let one = environment([1, 2, 3]).shape_of(&[0, 0, 1]);
    assert_eq!(environment([1, 2, 3]).shape_of(&[2, 2, 0]), one);
    assert_eq!(environment([3, 1, 2]).shape_of(&[1, 0, 0]), one);
    assert_ne!(environment([1, 2, 3]).shape_of(&[0, 1, 1]), one);
}

#[test]
fn messages_cross_blocks_only_when_these_are_gone() {
    let mut environment = environment([1, 2, 3]);
    environment.blocks = [0, 0, 1];
    environment.run(0);
    // Nodes 0 and 1 hear each other on all ticks but the first.
    assert_eq!(environment.system.delivered, 2 * 3);
    // What crossed stays until the next step, and is lost if it then still crosses.
    assert_eq!(environment.wire.flying.len(), 4 * 3 + 6);
    environment.run(0);
    assert_eq!(environment.system.delivered, 2 * 7);
    environment.blocks = [0; NODES];
    environment.run(0);
    assert_eq!(environment.system.delivered, 2 * 7 + (4 * 3 + 6) + 3 * 6);
}

#[test]
fn a_node_is_stopped_and_started() {
    let mut environment = environment([1, 2, 2]);
    environment.paint();
    let colour = environment.colours[1];
    environment.stop_any(colour);
    environment.paint();
    assert!(environment.is_up(0));
    assert_eq!(
        (0..NODES).filter(|&node| environment.is_up(node)).count(),
        2
    );
    environment.list_partitions();
    assert_eq!(environment.count_partitions(), 2);
    assert_eq!(environment.list_stops(&mut [0; NODES]), 0);
    environment.start_any();
    assert!((0..NODES).all(|node| environment.is_up(node)));
}
