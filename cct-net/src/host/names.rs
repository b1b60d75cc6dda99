//! Names and addresses of nodes.

use super::{Hosts, State};
use cct_executor::node::NodeId;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Names listed for somebody who asks for another.
const SHOWN: usize = 10;

impl State {
    /// Gives a node addresses: of each version its automatic one, or these instead.
    fn set_addresses(&mut self, node: NodeId, addresses: &[IpAddr]) -> Result<(), String> {
        for ip in addresses {
            if ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() {
                return Err(format!("{ip} cannot be the address of a node"));
            }
            match self.owners.get(ip) {
                Some(owner) if *owner != node => {
                    return Err(format!("the address {ip} is that of another node"));
                }
                _ => {}
            }
        }
        // Before the automatic addresses are chosen, so that they give way.
        for &ip in addresses {
            self.owners.insert(ip, node);
        }
        let host = self.host(node);
        let mut dropped = Vec::new();
        let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = addresses.iter().partition(|ip| ip.is_ipv4());
        for (wanted, current) in [(v4, &mut host.v4), (v6, &mut host.v6)] {
            if !wanted.is_empty() {
                dropped.extend(current.iter().filter(|ip| !wanted.contains(ip)).copied());
                *current = wanted;
            }
        }
        for ip in dropped {
            self.owners.remove(&ip);
        }
        Ok(())
    }
}

impl Hosts {
    /// Enters a node with its name and addresses. To be called at each of its starts.
    pub(crate) fn enter(&self, node: NodeId, name: &str, ips: &[IpAddr]) -> Result<(), String> {
        self.state.with(|state| {
            state.set_addresses(node, ips)?;
            let found = match ips {
                [] => vec![state.host(node).v4[0]],
                explicit => explicit.to_vec(),
            };
            state.names.entry(name.to_owned()).or_insert(found);
            Ok(())
        })
    }

    /// Whether a node to be made can have these addresses.
    pub(crate) fn check(&self, addresses: &[IpAddr]) -> Result<(), String> {
        self.state.with(
            |state| match addresses.iter().find(|ip| state.owners.contains_key(ip)) {
                Some(ip) => Err(format!("the address {ip} is that of another node")),
                None => Ok(()),
            },
        )
    }

    /// Enters a name in the table; replaces what was there.
    pub(crate) fn set_name(&self, name: &str, addresses: Vec<IpAddr>) {
        self.state
            .with(|state| state.names.insert(name.to_owned(), addresses));
    }

    pub(crate) fn remove_name(&self, name: &str) {
        self.state.with(|state| state.names.remove(name));
    }

    /// What a name stands for.
    pub(crate) fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.state.with(|state| state.names.get(name).cloned());
        if let Some(addresses) = found {
            return Ok(addresses);
        }
        if name == "localhost" {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let known = self.state.with(|state| {
            state.strangers.insert(format!("`{name}`"));
            let names = state
                .names
                .keys()
                .take(SHOWN)
                .map(|name| format!("`{name}`"));
            let mut known: Vec<String> = names.collect();
            known.extend((state.names.len() > SHOWN).then(|| "...".to_owned()));
            match known.is_empty() {
                true => "none is".to_owned(),
                false => format!("what is: {}", known.join(", ")),
            }
        });
        Err(io::Error::other(format!(
            "failed to look up `{name}`: no node and no entry of the table of names is called so \
             ({known}; `cct_net::node` enters the node that it makes, `dns::insert` other names)"
        )))
    }

    /// A node's addresses.
    pub(crate) fn addresses_of(&self, node: NodeId) -> Vec<IpAddr> {
        self.state
            .with(|state| state.host(node).addresses().collect())
    }
}
