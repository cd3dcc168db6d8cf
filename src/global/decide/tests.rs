//! Each thing that can be in the link's place, and what follows from it.

use super::*;
use crate::disk::access::Access;
use crate::global::look::Led;

fn link(text: &str) -> Held {
    Held::Link { text: text.to_owned() }
}

fn managed(auto: bool, value: &str) -> Held {
    Held::Alternatives { name: "cuda".to_owned(), auto, value: value.to_owned() }
}

fn facts(there: Held) -> Facts {
    Facts {
        there: There::Held(there),
        place: LINK.into(),
        leads: None,
        group: None,
        aside: false,
        program: true,
        access: (Access::Allowed, "".into()),
        memory: Memory::default(),
    }
}

fn led(root: &str, toolkit: bool) -> Option<Led> {
    Some(Led { root: root.into(), release: None, toolkit })
}

fn group(auto: bool, choices: &[&str]) -> Option<Group> {
    let choices = choices.iter().map(|c| (*c).to_owned()).collect();
    Some(Group {
        auto,
        link: LINK.to_owned(),
        choices,
        along: Vec::new(),
        records: "/var/lib/dpkg/alternatives",
    })
}

fn target(root: &str) -> Target {
    Target {
        root: root.into(),
        place: root.into(),
        release: "12.4.1".to_owned(),
        closed: None,
        nvcc: true,
        major: None,
    }
}

const OLD: &str = "/usr/local/cuda-11.8";
const NEW: &str = "/usr/local/cuda-12.4";

#[test]
fn a_neighbour_is_named_and_what_is_elsewhere_gets_its_whole_path() {
    for (root, text) in [(NEW, "cuda-12.4"), ("/opt/cuda-12.4", "/opt/cuda-12.4"), ("/a b/c", "/a b/c")] {
        for there in [Held::Absent, link("cuda-11.8")] {
            let plan = point(&facts(there.clone()), &target(root)).unwrap();
            assert_eq!(plan.steps, [Do::Point(LINK.to_owned(), text.to_owned())]);
            let step = Step { before: there, after: link(text), registered: None };
            assert_eq!(plan.memory.steps, [step]);
        }
    }
}

#[test]
fn what_leads_there_already_is_left_by_whatever_way() {
    let facts = Facts { leads: led(NEW, true), ..facts(link("cuda-12")) };
    let plan = point(&facts, &target(NEW)).unwrap();
    assert_eq!((plan.steps.as_slice(), plan.memory), (&[][..], Memory::default()));
}

#[test]
fn what_is_no_link_or_no_toolkits_is_left_alone() {
    let refused = |facts: &Facts, root: &str| point(facts, &target(root)).unwrap_err();
    let full = Facts { there: There::Directory(Some("11.8.0".to_owned())), ..facts(Held::Absent) };
    let failure = refused(&full, NEW);
    assert!(failure.message.contains("a directory with CUDA 11.8.0 in it"), "{failure}");
    assert!(
        failure.tries[0].starts_with("sudo mv -T /usr/local/cuda /usr/local/cuda-11.8.0 && cudaup "),
        "{failure:?}"
    );
    let other = Facts { there: There::Directory(None), ..facts(Held::Absent) };
    assert!(refused(&other, NEW).tries[0].starts_with("sudo mv -T /usr/local/cuda /usr/local/cuda-old "));
    assert!(refused(&Facts { there: There::Other, ..other.clone() }, NEW).message.contains("is no link"));
    let photos = Facts { leads: led("/data/photos", false), ..facts(link("/data/photos")) };
    assert!(refused(&photos, NEW).message.contains("leads to /data/photos, which is no CUDA toolkit"));
    let nowhere = Facts { leads: None, ..photos };
    assert_eq!(point(&nowhere, &target(NEW)).unwrap().steps.len(), 1);
    assert!(refused(&facts(Held::Absent), "/usr").message.contains("would be all of /usr"));
    assert!(undo(&full).is_err() && undo(&other).is_err());
}

#[test]
fn a_managed_link_is_set_by_its_program() {
    let set = |path: &str| Do::Call(Call::set("cuda", path));
    let known = Facts { leads: led(OLD, true), group: group(true, &[OLD, NEW]), ..facts(managed(true, OLD)) };
    let plan = point(&known, &target(NEW)).unwrap();
    assert_eq!(plan.steps, [set(NEW)]);
    assert_eq!((plan.back.as_slice(), plan.after), (&[][..], managed(false, NEW)));

    let unknown = Facts { group: group(true, &[OLD]), ..known.clone() };
    let plan = point(&unknown, &target(NEW)).unwrap();
    assert_eq!(plan.steps, [Do::Call(Call::install(LINK, "cuda", NEW)), set(NEW)]);
    assert_eq!(plan.back, [Do::Call(Call::remove("cuda", NEW))]);
    assert_eq!(plan.memory.steps[0].registered.as_deref(), Some(NEW));

    let slash = Facts { group: group(false, &["/usr/local/cuda-12.4/"]), ..known.clone() };
    assert_eq!(point(&slash, &target(NEW)).unwrap().steps, [set("/usr/local/cuda-12.4/")]);

    // What the group has chosen by itself becomes a wish, under the name that it has there.
    let chosen = Facts {
        leads: led(OLD, true),
        group: group(true, &["/usr/local/cuda-11"]),
        ..facts(managed(true, "/usr/local/cuda-11"))
    };
    assert_eq!(point(&chosen, &target(OLD)).unwrap().steps, [set("/usr/local/cuda-11")]);
    let wished = Facts { there: There::Held(managed(false, "/usr/local/cuda-11")), ..chosen };
    assert_eq!(point(&wished, &target(OLD)).unwrap().steps, []);
}

#[test]
fn a_chain_without_a_group_or_a_program_is_not_broken() {
    let chain = facts(managed(false, OLD));
    for facts in [chain.clone(), Facts { program: false, group: group(true, &[OLD]), ..chain }] {
        let failure = point(&facts, &target(NEW)).unwrap_err();
        let set = format!("sudo update-alternatives --set cuda {NEW}");
        assert!(failure.tries[0].ends_with(&set), "{failure:?}");
    }
}

fn remembering(now: Held, steps: &[(Held, Held)], registered: Option<&str>) -> Facts {
    let step = |(before, after): &(Held, Held)| Step {
        before: before.clone(),
        after: after.clone(),
        registered: registered.map(str::to_owned),
    };
    Facts { memory: Memory { steps: steps.iter().map(step).collect() }, ..facts(now) }
}

#[test]
fn undo_gives_each_its_own_back() {
    let back = |before: Held| undo(&remembering(link("b"), &[(before, link("b"))], None)).unwrap();
    assert_eq!(back(Held::Absent).steps, [Do::Remove(LINK.to_owned())]);
    assert_eq!(back(link("./cuda-11.8/")).steps, [Do::Point(LINK.to_owned(), "./cuda-11.8/".to_owned())]);
    assert_eq!(back(Held::Absent).memory, Memory::default());
    let twice = [(Held::Absent, link("a")), (link("a"), link("b"))];
    let plan = undo(&remembering(link("b"), &twice, None)).unwrap();
    assert_eq!((plan.after, plan.memory.steps.len()), (link("a"), 1));
}

#[test]
fn undo_of_a_managed_link_gives_mode_and_choice_back() {
    let alternatives = "/etc/alternatives/cuda".to_owned();
    let back = |before: Held, choices: &[&str], registered| {
        let facts = remembering(managed(false, NEW), &[(before, managed(false, NEW))], registered);
        undo(&Facts { group: group(false, choices), ..facts }).unwrap().steps
    };
    let call = Do::Call;
    assert_eq!(back(managed(true, OLD), &[OLD, NEW], None), [call(Call::auto("cuda"))]);
    assert_eq!(back(managed(false, OLD), &[OLD, NEW], None), [call(Call::set("cuda", OLD))]);
    let forget = call(Call::remove("cuda", NEW));
    assert_eq!(back(managed(true, OLD), &[OLD, NEW], Some(NEW)), [call(Call::auto("cuda")), forget.clone()]);
    // The program does not set what it does not know, and would mend what leads nowhere.
    assert_eq!(
        back(managed(true, "/gone"), &[OLD, NEW], Some(NEW)),
        [forget, Do::Point(alternatives.clone(), "/gone".to_owned())]
    );
    assert_eq!(back(managed(false, ""), &[OLD, NEW], None), [Do::Remove(alternatives)]);
}

#[test]
fn undo_leaves_what_somebody_else_has_made() {
    let step = [(link("cuda-11.8"), link("cuda-12.4"))];
    let failure = undo(&remembering(link("cuda-13.0"), &step, None)).unwrap_err();
    for part in ["is cuda-13.0", "had made it cuda-12.4", "before it was cuda-11.8"] {
        assert!(failure.message.contains(part), "{failure}");
    }
    assert!(undo(&remembering(Held::Absent, &step, None)).is_err());
    let java = Held::Alternatives { name: "java".to_owned(), auto: false, value: OLD.to_owned() };
    for before in [java, link("cuda-11.8")] {
        let other = remembering(managed(false, NEW), &[(before, managed(false, NEW))], None);
        let failure = undo(&Facts { group: group(false, &[OLD, NEW]), ..other }).unwrap_err();
        assert!(failure.message.contains("does not fit /usr/local/cuda"), "{failure}");
    }
    assert!(undo(&facts(link("cuda-12.4"))).unwrap_err().message.contains("nothing to put back"));
    // A kill between the memory and the link.
    let plan = undo(&remembering(link("cuda-11.8"), &step, None)).unwrap();
    assert_eq!((plan.steps.len(), plan.memory.steps.len()), (0, 0));
    let half = remembering(managed(true, OLD), &[(managed(true, OLD), managed(false, NEW))], Some(NEW));
    let plan = undo(&Facts { group: group(true, &[OLD, NEW]), ..half }).unwrap();
    assert_eq!(plan.steps, [Do::Call(Call::remove("cuda", NEW))]);
}

#[test]
fn what_a_group_chooses_by_itself_may_have_moved_on() {
    let facts = remembering(managed(false, NEW), &[(managed(true, OLD), managed(false, NEW))], None);
    let plan = undo(&Facts { group: group(false, &[OLD, NEW]), ..facts }).unwrap();
    assert!(plan.is_met_by(&managed(true, OLD)) && plan.is_met_by(&managed(true, "/usr/local/cuda-13.0")));
    assert!(!plan.is_met_by(&managed(false, NEW)) && !plan.is_met_by(&Held::Absent));
}
